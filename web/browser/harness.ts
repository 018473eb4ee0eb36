// What the tests in a browser stand on: monitors as processes of their own, and pages that note every complaint.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { expect } from "vitest";
import { findBrowser } from "../tools/find_browser.mjs";

const ROOT = new URL("../..", import.meta.url).pathname;
const PYTHON = process.env.NANOPROOF_PYTHON ?? "python3";

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // it has ended
  }
}

interface Begun { pid: number; said: (listen: (text: string) => void) => void; ended: Promise<string> }

/** Begin `python ARGUMENTS`: a process of its own, forked from one that has imported the monitor (tests/web/forks.py). */
async function begin(args: string[]): Promise<Begun> {
  const connection = connect(await forks());
  let [text, listen] = ["", (_text: string): void => undefined];
  const ended = new Promise<string>((resolve) => connection.once("close", () => resolve(text)));
  const pid = await new Promise<number>((resolve, reject) => {
    connection.once("error", reject);
    connection.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const first = /^(\d+)\n/.exec(text);
      if (first) resolve(Number(first[1]));
      listen(text);
    });
    connection.write(`${JSON.stringify(args)}\n`);
  });
  return { pid, ended, said: (next) => (listen = next)(text) };
}

let forking: Promise<string> | undefined;

/** The socket of the process that the others are forked from; that ends with this one. */
function forks(): Promise<string> {
  forking ??= new Promise((resolve, reject) => {
    const socket = join(mkdtempSync(join(tmpdir(), "nanoproof-")), "forks");
    const child = spawn(PYTHON, ["-m", "tests.web.forks", socket], { cwd: ROOT, stdio: ["pipe", "pipe", "inherit"] });
    child.stdout.once("data", () => resolve(socket));
    child.once("exit", (code) => reject(new Error(`tests.web.forks ended with ${code}`)));
  });
  return forking;
}

/** A monitor that was started here. */
export class Monitor {
  private constructor(private readonly pid: number, private readonly ended: Promise<void>, readonly address: string) {}

  /** Start `python ARGUMENTS` and wait until it says where it listens. */
  static async start(args: string[]): Promise<Monitor> {
    const { pid, said, ended } = await begin(args);
    const address = await new Promise<string>((resolve, reject) => {
      said((text) => {
        const match = /https?:\/\/[\w.:-]+/.exec(text);
        if (match) resolve(match[0]);
      });
      void ended.then((text) => reject(new Error(`python ${args.join(" ")} ended:\n${text}`)));
    });
    return new Monitor(pid, ended.then(() => undefined), address);
  }

  get port(): string {
    return new URL(this.address).port;
  }

  async stop(): Promise<void> {
    for (const kept of spare.values()) if (kept.page.url().startsWith(`${this.address}/`)) await leave(kept); // it would complain
    signal(this.pid, "SIGINT");
    const late = setTimeout(() => signal(this.pid, "SIGKILL"), 5000);
    await this.ended;
    clearTimeout(late);
  }
}

/** Run `python ARGUMENTS` to its end, which is to have made this file. */
export async function run(args: string[], made: string): Promise<void> {
  const text = await (await begin(args)).ended;
  if (!existsSync(made)) throw new Error(`python ${args.join(" ")} ended:\n${text}`);
}

// Debian's Chromium asks for a GPU's ways of drawing, which cost a machine without one more than its own.
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-gpu-compositing", "--disable-gpu-rasterization", "--force-color-profile=srgb"];

/** All of these; by itself the first ones: NANOPROOF_NIGHTLY above 1 adds the others, each of which costs a new page. */
export function nightly<T>(all: readonly T[], first: number): readonly T[] {
  return Number(process.env.NANOPROOF_NIGHTLY ?? 1) > 1 ? all : all.slice(0, first);
}

let ofRuns: Promise<Monitor> | undefined;

/** The monitor of all runs that there are to look at, for tests that change nothing in them; it ends as the browser does. */
export function monitorOfRuns(): Promise<Monitor> {
  ofRuns ??= Monitor.start(["-m", "nanoproof.monitor", "--run-dir", process.env.NANOPROOF_HOME_OF_RUNS ?? "", "--port", "0"]);
  return ofRuns;
}

let started: Promise<Browser> | undefined;

/** The browser of all files of tests: these run one after the other in one process, with whose end it ends. */
export function launch(): Promise<Browser> {
  started ??= chromium.launch({ executablePath: findBrowser(), args: FLAGS });
  return started;
}

/** A page, and all that went wrong in it: errors of the console, exceptions, answers that failed. */
export interface Watched {
  page: Page;
  complaints: string[];
}

const VIEWPORT = { width: 1280, height: 800 };

interface Options extends BrowserContextOptions {
  /** Load the page, though one of this run is there. */
  fresh?: boolean;
}

/** Whether a page that is there, of the same pixel ratio, can be made one of these options. */
function isPlain({ viewport, offline, fresh, deviceScaleFactor, ...others }: Options): boolean {
  return Object.keys(others).length === 0;
}

/** Runs in the page. Nothing here looks at the screen, and to draw one is a fifth of the processor time of a page. */
function leaveUndrawn(): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("html { opacity: 0 }");
  document.adoptedStyleSheets = [sheet];
}

/** A new page that shares nothing with others. */
async function newPage(browser: Browser, options: BrowserContextOptions): Promise<Watched> {
  const context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: "reduce", ...options });
  await context.addInitScript(leaveUndrawn);
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

/** Pages that a test has left in order, by their pixel ratio. To begin with one costs half of the processor time that a new
 *  one takes, and to go on in the run that it shows a third of that. */
const spare = new Map<number, Watched>();

/** Leave what a test has seen: a page of a run stays at an address that nobody has, where nothing is left of what it showed. */
async function leaveInOrder(watched: Watched): Promise<void> {
  const { page } = watched;
  await page.context().setOffline(false);
  const stays = page.url().startsWith("http") && (await page.evaluate(goTo, "/left")) === "No such page";
  if (page.url().startsWith("http")) await page.evaluate(() => localStorage.clear());
  if (!stays) await leave(watched);
}

async function leave({ page, complaints }: Watched): Promise<void> {
  await page.goto("about:blank");
  complaints.length = 0;
}

/** A function that opens an address, does something there, and expects that nothing went wrong in the page. */
export function pagesOf(browser: () => Browser) {
  return async (address: string, act: (watched: Watched) => Promise<void>, options: Options = {}): Promise<void> => {
    const plain = isPlain(options);
    const { deviceScaleFactor = 1 } = options;
    const watched = (plain && spare.get(deviceScaleFactor)) || (await newPage(browser(), plain ? { deviceScaleFactor } : options));
    if (plain) spare.delete(deviceScaleFactor);
    try {
      if (plain) {
        await watched.page.setViewportSize(options.viewport ?? VIEWPORT);
        await watched.page.context().setOffline(options.offline ?? false);
      }
      if (options.fresh) await watched.page.goto("about:blank");
      await arrive(watched.page, address);
      await act(watched);
      expect(watched.complaints).toEqual([]);
      if (plain) await leaveInOrder(watched);
      expect(watched.complaints).toEqual([]); // of leaving it
    } catch (failure) {
      await watched.page.context().close();
      throw failure;
    }
    if (plain) spare.set(deviceScaleFactor, watched);
    else await watched.page.context().close();
  };
}

/** Runs in the page: follow a link within the run, and say what the page is called then. */
async function goTo(hash: string): Promise<string | undefined> {
  location.hash = hash;
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  return document.querySelector("h1")?.textContent;
}

/** Go to an address as a link would, within a run without loading the page anew. */
async function arrive(page: Page, address: string): Promise<void> {
  const { href, hash } = new URL(address);
  if (page.url().split("#")[0] === href.split("#")[0]) await page.evaluate(goTo, hash || "#/");
  else await page.goto(address);
}

/** Wait until a page shows its data. */
export async function filled(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector("h1") !== null && document.querySelectorAll(".skeleton").length === 0, null, { polling: 50 });
}

/** Go to an address as `arrive` does, and wait until it shows its data. */
export async function visit(page: Page, address: string): Promise<void> {
  await arrive(page, address);
  await filled(page);
}

/** The page of the navigation that each other tab belongs to. */
const HEADS: Record<string, string> = { "Search trees": "Theorems", Actors: "Run", Profile: "Run", Logs: "Run" };

/** Go to a page of a run by its name, as somebody would who looks for it. */
export async function openTab(page: Page, name: string): Promise<void> {
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: HEADS[name] ?? name, exact: true }).click();
  if (HEADS[name]) await page.getByRole("navigation", { name: "Beside this page" }).getByRole("link", { name, exact: true }).click();
}
