// Every control of every page, clicked twice (links once), on runs of every kind: what breaks at the second click, on a run
// that is empty or on a phone, breaks here. By itself it walks runs that are over and clicks a control of each kind on one of
// them, and a report on a phone. NANOPROOF_WALK says how much more: `quick` adds runs that are live, ended, simulated or empty,
// `all` clicks all controls on each run, at three pixel ratios and on a phone (an hour). NANOPROOF_HUGE_RUN names one more run
// to walk.

import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser, BrowserContextOptions, ElementHandle, Page } from "playwright-core";
import { launch, Monitor, pagesOf, visit } from "./harness";

const HOME = process.env.NANOPROOF_HOME_OF_RUNS ?? "";
const HUGE = process.env.NANOPROOF_HUGE_RUN ?? "";
const ASKED_FOR = process.env.NANOPROOF_WALK ?? "";
const REPORT = "a report of evaluations";
const EVERYTHING = ASKED_FOR === "all";
/** Places of which others have all controls: they cost more time than a suite of tests has. */
const ALIKE = [REPORT, "a simulated run", "a run that has ended", "a run killed before its first step", "a live run"];
const MINUTES = 60_000;
const PHONE: BrowserContextOptions = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 3, isMobile: true, hasTouch: true };
type Screen = [name: string, options: BrowserContextOptions];
const ON_PHONE: Screen = ["a phone", PHONE];
const SCREENS: Screen[] = EVERYTHING
  ? [["ratio 1", {}], ["ratio 1.25", { deviceScaleFactor: 1.25 }], ["ratio 2", { deviceScaleFactor: 2 }], ON_PHONE]
  : [["ratio 1", {}]];

const report = (): string => `file://${join(HOME, "report", "report.html")}#/`;

/** What can be walked: its name here, and the address of its page. */
const ALL_PLACES: [name: string, address: () => string][] = [
  ["a simulated run", () => of(ended, "rl/simulated")],
  ["a run that has ended", () => of(ended, "rl/first_run")],
  ["a run that was killed", () => of(ended, "rl/second_run")],
  ["finetuning", () => of(ended, "sft/short")],
  ["a folder of evaluations", () => of(ended, "quick/eval_rl")],
  [REPORT, report],
  ["a run killed before its first step", () => of(bare, "empty")],
  ["self-play", () => of(bare, "experiment")],
  ["a live run", () => `${live!.address}/#/`],
  ...(HUGE ? [["a huge run", () => `${huge.address}/?run=${encodeURIComponent(basename(HUGE))}#/`] as [string, () => string]] : []),
];
const PLACES = ALL_PLACES.filter(([name]) => ASKED_FOR || !ALIKE.includes(name));
const of = (monitor: Monitor, run: string): string => `${monitor.address}/?run=${encodeURIComponent(run)}#/`;

let browser: Browser;
let ended: Monitor;
let live: Monitor | undefined;
let bare: Monitor;
let huge: Monitor;
let folder = "";
/** Kinds of controls that were clicked already, on any run. */
let clicked: string[] = [];

/** A run that was killed before its first step, and an experiment of self-play in its second round. */
function makeBare(home: string): string {
  const experiment = join(home, "experiment");
  for (const path of [join(home, "empty"), join(experiment, "round0", "sampler_ckpt"), join(experiment, "round1")]) mkdirSync(path, { recursive: true });
  writeFileSync(join(home, "empty", "args.json"), "{}");
  writeFileSync(join(experiment, "selfplay.json"), "{}");
  writeFileSync(join(experiment, "round0", "metrics.json"), '{"succ rate": 40.0, "success_rates": {"0.000": 5}}');
  writeFileSync(join(experiment, "round0", "sampler_ckpt", "conjectures.json"), '{"pairs": 7, "proposed": 21, "kept": 4}');
  return home;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "nanoproof-"));
  cpSync(HOME, join(folder, "home"), { recursive: true }); // the walk writes names and notes
  const monitorOf = (path: string): Promise<Monitor> => Monitor.start(["-m", "nanoproof.monitor", "--run-dir", path, "--port", "0"]);
  [browser, ended, bare, live] = await Promise.all([
    launch(),
    monitorOf(join(folder, "home")),
    monitorOf(makeBare(join(folder, "bare"))),
    ASKED_FOR ? Monitor.start(["-m", "tests.fakes.watched_run", "--port", "0", "--pause", "0.05", "--budget", "30"]) : undefined,
  ]);
  if (HUGE) huge = await monitorOf(join(HUGE, ".."));
});
afterAll(async () => {
  await Promise.all([ended?.stop(), live?.stop(), bare?.stop(), huge?.stop()]);
  if (folder) rmSync(folder, { recursive: true, force: true });
});

const withPage = pagesOf(() => browser);

interface Walked {
  pages: string[];
  clicked: string[];
  mistakes: string[];
}

/** Runs in the page: goes to all pages that links lead to, and clicks each kind of control twice. */
async function walk({ known, everything }: { known: string[]; everything: boolean }): Promise<Walked> {
  const seen = new Set(known);
  const pause = (ms: number): Promise<void> => new Promise((resolve) => window.setTimeout(resolve, ms));
  const settle = async (): Promise<void> => {
    await pause(20);
    for (let i = 0; i < 40 && document.querySelector(".skeleton"); i++) await pause(25);
  };
  const mistakes: string[] = [];
  const look = (what: string): void => {
    for (const alert of document.querySelectorAll("[role=alert]")) {
      if (/mistake|could not be loaded/.test(alert.textContent ?? "")) mistakes.push(`${what}: ${alert.textContent}`);
    }
    if (!document.querySelector("h1, .skeleton")) mistakes.push(`${what}: the page is gone`);
    const wide = document.documentElement.scrollWidth - window.innerWidth;
    if (wide > 0) mistakes.push(`${what}: the page is ${wide} pixels wider than the screen`);
  };
  /** Of a table's rows, and of names with numbers, one stands for all; where not everything is walked also of theorems by
   *  name, of what a click has changed the words of, and of what is the same on every page. */
  const kindOf = (element: Element, page: string): string => {
    let text = element.closest("tbody, .changed-list, .logs, ol, ul") ? "" : (element.getAttribute("aria-label") ?? element.textContent ?? "");
    if (!everything) text = element.matches("a.mono") ? "" : text.replace(/[↑↓]$/, "").replace(/^(Copied|Not allowed)$/, "Copy");
    const place = !everything && element.closest(".side, .besides, .lean-source, .command") ? "every page" : page;
    return [place, element.tagName, element.className, element.parentElement?.className ?? "", text.replace(/[\d.,:]+/g, "#").slice(0, 40)].join("|");
  };
  const controls = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("button, summary, select, input, textarea, th[tabindex], tr[tabindex], a[href^='#/'], [role=application], [role=img][tabindex]")]
    .filter((element) => element.checkVisibility() && !(element as HTMLButtonElement).disabled);
  const set = (element: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement, value: string): void => {
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), "value")!.set!.call(element, value);
    element.dispatchEvent(new Event(element instanceof HTMLSelectElement ? "change" : "input", { bubbles: true }));
  };
  const use = async (element: HTMLElement, round: number): Promise<void> => {
    const isText = element instanceof HTMLTextAreaElement || (element instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit"].includes(element.type));
    if (element instanceof HTMLSelectElement) set(element, element.options[round === 0 ? element.options.length - 1 : 0]!.value);
    else if (isText) set(element as HTMLInputElement, round === 0 ? "x(" : "");
    else if (element.getAttribute("role")) {
      for (const key of ["ArrowRight", "Enter", "+", "Escape"]) element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    } else element.click();
    await settle();
  };

  const OF_MANY = ["theorem", "tree", "evaluation", "compare"];
  const run = new URLSearchParams(location.search).get("run");
  const todo = ["#/", "#/nonsense"], visited = new Set<string>();
  while (todo.length > 0) {
    const address = todo.shift()!;
    const page = address.split("?")[0]!.split("/")[1]!;
    // Of many theorems, trees and evaluations two of each kind.
    const shape = `${page} ${[...new URLSearchParams(address.split("?")[1] ?? "").keys()].join()}`;
    const same = [...visited].filter((other) => other.startsWith(`${shape}|`)).length;
    if (visited.has(`${shape}|${address}`) || same >= (OF_MANY.includes(page) ? 2 : 1)) continue;
    visited.add(`${shape}|${address}`);
    location.hash = address;
    await settle();
    look(address);
    for (let next = true; next; ) {
      next = false;
      for (const element of controls()) {
        const link = element.getAttribute("href");
        if (link !== null) todo.push(link);
        const kind = kindOf(element, page);
        if (seen.has(kind)) continue;
        seen.add(kind);
        for (const round of link === null || everything ? [0, 1] : [0]) { // a link leads to where the walk comes again
          const again = element.isConnected ? element : controls().find((other) => kindOf(other, page) === kind);
          if (!again) break;
          await use(again, round);
          look(`${address}, ${kind}, click ${round + 1}`);
          if (location.hash !== address) {
            todo.push(location.hash);
            location.hash = address;
            await settle();
          }
        }
        next = true;
        break;
      }
    }
  }
  if (new URLSearchParams(location.search).get("run") !== run) mistakes.push("a link led to another run");
  return { pages: [...visited], clicked: [...seen], mistakes };
}

/** The next control of the list of runs whose kind was not clicked; one row stands for all. */
async function nextOfList(page: Page, seen: Set<string>): Promise<ElementHandle<HTMLElement | SVGElement> | null> {
  const kindOf = (element: Element): string => [element.tagName, element.className, element.closest("tbody") ? "row" : (element.getAttribute("aria-label") ?? element.textContent)].join("|");
  const find = `[...document.querySelectorAll("button, summary, select, input, th[tabindex], tr[tabindex], main a")]
    .find((element) => !${JSON.stringify([...seen])}.includes((${kindOf})(element)) && element.checkVisibility() && element.getClientRects().length > 0)`;
  const control = (await page.evaluateHandle(find)).asElement() as ElementHandle<HTMLElement | SVGElement> | null;
  if (control) seen.add(await control.evaluate(kindOf));
  return control;
}

/** Clicks each kind of control of the list of runs twice; where that leads elsewhere, it comes back. */
async function walkList(page: Page, address: string): Promise<number> {
  const seen = new Set<string>();
  await visit(page, address);
  for (const box of (await page.$$("tbody input[type=checkbox]")).slice(0, 2)) await box.evaluate((element) => (element as HTMLElement).click());
  const compared = page.getByText("Which is better");
  await compared.waitFor();
  const start = page.url();
  for (let control = await nextOfList(page, seen); control; control = await nextOfList(page, seen)) {
    for (let round = 0; round < 2; round++) {
      const still = await control.evaluate((element) => element.isConnected && ((element as HTMLElement).click(), true)).catch(() => false);
      if (!still) break;
      await page.waitForTimeout(100);
      if (!page.url().includes("?run=")) expect(await page.getByText("a mistake of the page").count()).toBe(0);
    }
    if (page.url() === start) continue;
    await visit(page, start);
    await compared.waitFor();
  }
  return seen.size;
}

describe("every control of every page works twice", () => {
  const walkPlace = ([screen, options]: Screen, place: string, address: () => string): void => it(`at ${screen}, ${place}`, () =>
    withPage(address(), async ({ page }) => {
      await page.locator("h1").waitFor();
      const known = EVERYTHING || options === PHONE ? [] : clicked; // other controls are in reach there
      const walked = await page.evaluate(walk, { known, everything: EVERYTHING });
      if (options !== PHONE) clicked = walked.clicked;
      expect(walked.mistakes.join("\n")).toBe(""); // an array would be shown as [ Array(1) ]
      expect(walked.pages.length).toBeGreaterThan(1);
      console.log(`${screen}, ${place}: ${walked.pages.length} pages, ${walked.clicked.length - known.length} controls`);
    }, options), 15 * MINUTES);
  for (const screen of SCREENS) {
    it(`at ${screen[0]}, the list of runs`, () =>
      withPage(ended.address, async ({ page }) => {
        console.log(`${screen[0]}, the list of runs: ${await walkList(page, `${ended.address}/#/`)} controls`);
      }, screen[1]), 5 * MINUTES);
    for (const [place, address] of PLACES) walkPlace(screen, place, address);
  }
  // A report is what a colleague opens on the way.
  if (!EVERYTHING) walkPlace(ON_PHONE, REPORT, report);
});
