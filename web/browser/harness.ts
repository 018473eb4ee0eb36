// What the tests in a browser stand on: monitors as processes of their own, and pages that note every complaint.

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { promisify } from "node:util";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { expect } from "vitest";
import { findBrowser } from "../tools/find_browser.mjs";

const ROOT = new URL("../..", import.meta.url).pathname;
const PYTHON = process.env.NANOPROOF_PYTHON ?? "python3";

/** A monitor that was started here. */
export class Monitor {
  private constructor(private readonly process: ChildProcess, readonly address: string) {}

  /** Start `python ARGUMENTS` and wait until it says where it listens. */
  static async start(args: string[]): Promise<Monitor> {
    const child = spawn(PYTHON, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    const address = await new Promise<string>((resolve, reject) => {
      const listen = (chunk: Buffer): void => {
        said += chunk.toString();
        const match = /https?:\/\/[\w.:-]+/.exec(said);
        if (match) resolve(match[0]);
      };
      child.stdout.on("data", listen);
      child.stderr.on("data", listen);
      child.on("exit", (code) => reject(new Error(`python ${args.join(" ")} ended with ${code}:\n${said}`)));
    });
    return new Monitor(child, address);
  }

  get port(): string {
    return new URL(this.address).port;
  }

  async stop(): Promise<void> {
    if (this.process.exitCode !== null) return;
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGINT");
    const late = setTimeout(() => this.process.kill("SIGKILL"), 5000);
    await ended;
    clearTimeout(late);
  }
}

/** Run `python ARGUMENTS` to its end. */
export async function run(args: string[]): Promise<void> {
  await promisify(execFile)(PYTHON, args, { cwd: ROOT });
}

let started: Promise<Browser> | undefined;

/** The browser of all files of tests: these run one after the other in one process, with whose end it ends. */
export function launch(): Promise<Browser> {
  started ??= chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"] });
  return started;
}

/** A page, and all that went wrong in it: errors of the console, exceptions, answers that failed. */
export interface Watched {
  page: Page;
  complaints: string[];
}

/** A new page that shares nothing with others. */
async function newPage(browser: Browser, options: BrowserContextOptions): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  return { page, complaints };
}

export async function open(browser: Browser, address: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const watched = await newPage(browser, options);
  await watched.page.goto(address);
  return watched;
}

/** A page that a test has left in order. To begin with it costs half of the processor time that a new one takes. */
let spare: Watched | undefined;

async function leaveInOrder({ page, complaints }: Watched): Promise<void> {
  if (page.url().startsWith("http")) await page.evaluate(() => localStorage.clear());
  await page.goto("about:blank");
  complaints.length = 0;
  spare = { page, complaints };
}

/** A function that opens an address, does something there, and expects that nothing went wrong in the page. */
export function pagesOf(browser: () => Browser) {
  return async (address: string, act: (watched: Watched) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> => {
    const isPlain = Object.keys(options).length === 0;
    const watched = (isPlain && spare) || (await newPage(browser(), options));
    if (isPlain) spare = undefined;
    try {
      await watched.page.goto(address);
      await act(watched);
      expect(watched.complaints).toEqual([]);
    } catch (failure) {
      await watched.page.context().close();
      throw failure;
    }
    await (isPlain ? leaveInOrder(watched) : watched.page.context().close());
  };
}

/** Wait until a page shows its data. */
export async function filled(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector("h1") !== null && document.querySelectorAll(".skeleton").length === 0);
}

/** Go to an address as a link would, within a run without loading the page anew, and wait until it shows its data. */
export async function visit(page: Page, address: string): Promise<void> {
  const [place = "", hash = ""] = address.split("#");
  if (page.url().split("#")[0] === place) {
    await page.evaluate(async (next) => {
      location.hash = next;
      for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    }, hash);
  } else await page.goto(address);
  await filled(page);
}

/** The page of the navigation that each other tab belongs to. */
const HEADS: Record<string, string> = { "Search trees": "Theorems", Actors: "Run", Profile: "Run", Logs: "Run" };

/** Go to a page of a run by its name, as somebody would who looks for it. */
export async function openTab(page: Page, name: string): Promise<void> {
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: HEADS[name] ?? name, exact: true }).click();
  if (HEADS[name]) await page.getByRole("navigation", { name: "Beside this page" }).getByRole("link", { name, exact: true }).click();
}
