// How fast the page is in a browser: node tools/measure.mjs 'http://localhost:5050/?run=rl/RUN' [--json FILE]
// First paint of each tab opened cold, of a folder without `run` that of the list of runs; then, in one page, each
// interaction: until the next frame (what the browser calls the duration of the event) and until what was asked for is
// on show. Beside them the processor time of the page's own thread, which other load on the machine does not distort.
import { writeFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { findBrowser } from "./find_browser.mjs";

const [address, flag, file] = process.argv.slice(2);
if (!address || (flag && (flag !== "--json" || !file))) {
  console.error("usage: node tools/measure.mjs ADDRESS [--json FILE]");
  process.exit(2);
}
const TABS = ["", "actors", "theorems", "tree", "model", "evaluations", "profile", "logs"];
const ROUNDS = 3;
const at = (tab) => Object.assign(new URL(address), { hash: `#/${tab}` }).href;
const runs = await (await fetch(new URL("api/runs", address))).json();
const isList = Boolean(runs.folder) && !new URL(address).searchParams.has("run");
const browser = await chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox"] });
const paints = [];
for (const tab of isList ? [""] : TABS) {
  const times = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await firstPaint(tab));
  const median = times.sort((a, b) => a.painted - b.painted)[ROUNDS >> 1];
  const name = tab || (isList ? "list of runs" : "overview");
  paints.push({ tab: name, ...median });
  console.log(`${name.padEnd(13)} first paint ${show(median.painted)} (processor ${show(median.paintedProcessor)})   filled ${show(median.filled)} (processor ${show(median.processor)})   ${(median.bytes / 1000).toFixed(0)} kB of page`);
}
const actions = isList ? [] : await interactions();
for (const action of actions) console.log(`${action.name.padEnd(34)} next frame ${show(action.frame)}   done ${show(action.done)}   processor ${show(action.processor)}`);
await browser.close();
if (file) writeFileSync(file, `${JSON.stringify({ paints, actions }, null, 1)}\n`);

function show(ms) {
  return `${ms.toFixed(0).padStart(5)} ms`;
}

/** A function that says how much processor time the page's thread has used so far, in milliseconds. */
async function processorClock(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * metrics.find((metric) => metric.name === "TaskDuration").value;
  };
}

async function firstPaint(tab) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 840 } });
  const page = await context.newPage();
  const processor = await processorClock(page);
  await page.goto(at(tab), { waitUntil: "commit" });
  const paint = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
  const painted = await (await page.waitForFunction(paint)).jsonValue();
  const paintedProcessor = await processor(); // a little later than the paint: not less than what it took
  const bytes = await page.evaluate(() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .filter((entry) => !entry.name.includes("/api/")).reduce((sum, entry) => sum + entry.encodedBodySize, 0));
  await page.waitForSelector("h1");
  await page.waitForFunction(() => document.querySelectorAll(".skeleton").length === 0);
  const filled = await page.evaluate(() => performance.now());
  const used = await processor();
  await context.close();
  return { painted, paintedProcessor, filled, processor: used, bytes };
}

async function interactions() {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 840 } })).newPage();
  await page.goto(at(""));
  await page.waitForSelector(".stats");
  await page.waitForTimeout(1500);
  await page.evaluate(() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration);
    }).observe({ type: "event", durationThreshold: 16 });
  });
  const results = [];
  const processor = await processorClock(page);
  const act = async (name, doIt, isDone) => {
    await page.evaluate(() => (window.longest = 0));
    const used = await processor();
    const began = await page.evaluate(() => performance.now());
    await doIt();
    await page.waitForFunction(isDone, null, { polling: "raf" });
    const done = (await page.evaluate(() => performance.now())) - began;
    const spent = (await processor()) - used;
    await page.waitForTimeout(400);
    results.push({ name, processor: spent, frame: await page.evaluate(() => window.longest), done });
  };
  const settled = () => document.querySelectorAll(".skeleton, [aria-busy=true]").length === 0 && document.querySelector("h1") !== null;
  for (const tab of [...TABS.slice(1), ""]) {
    await act(`open ${tab || "overview"}`, () => page.evaluate((hash) => (location.hash = hash), `#/${tab}`), settled);
  }
  await page.click('nav[aria-label=Pages] a[href="#/theorems"]');
  await page.waitForSelector("tbody tr");
  await act("sort theorems", () => page.locator("th button").nth(2).click(), settled);
  await act("next page of theorems", () => page.getByRole("button", { name: "Next" }).click(), settled);
  await act("search in theorems", () => page.getByRole("searchbox").first().fill("add"), () =>
    location.hash.includes("q=add") && document.querySelectorAll("[aria-busy=true]").length === 0);
  await act("open a theorem", () => page.locator("tbody tr").first().click(), () => location.hash.startsWith("#/theorem?") && document.querySelectorAll(".skeleton").length === 0);
  await page.click('nav[aria-label=Pages] a[href="#/"]');
  await page.waitForSelector(".u-over");
  await act("point at a chart", () => page.hover(".u-over", { position: { x: 200, y: 60 } }), () => true);
  await act("switch to dark", () => page.getByRole("button", { name: "Dark" }).click(), () => document.documentElement.dataset.theme === "dark");
  return results;
}
