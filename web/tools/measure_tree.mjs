// How fast the page of a large search tree is: node tools/measure_tree.mjs http://localhost:5050/#/tree/1/2002/50 [--json FILE]
// Everything is unfolded and in sight. Frames are counted by the wall clock, work by the CPU time of the page's main thread.
import { writeFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { findBrowser } from "./find_browser.mjs";

const [address, flag, file] = process.argv.slice(2);
if (!address || (flag && (flag !== "--json" || !file))) {
  console.error("usage: node tools/measure_tree.mjs ADDRESS-OF-A-TREE [--json FILE]");
  process.exit(2);
}
const browser = await chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox"] });
const page = await (await browser.newContext({ viewport: { width: 1400, height: 900 }, reducedMotion: "reduce" })).newPage();
const protocol = await page.context().newCDPSession(page);
await protocol.send("Performance.enable", { timeDomain: "threadTicks" });
const began = performance.now();
await page.goto(address);
await page.waitForSelector(".tree-canvas");
console.log(`open ${(performance.now() - began).toFixed(0)} ms, ${await page.getAttribute(".tree-canvas", "aria-label")}`);
await page.getByRole("button", { name: "Unfold" }).click();
if ((await page.getByRole("button", { name: "Untried" }).getAttribute("aria-pressed")) === "false") await page.getByRole("button", { name: "Untried" }).click();
await page.getByRole("button", { name: "Fit" }).click();
await page.waitForTimeout(500);

const box = await page.locator(".tree-canvas").boundingBox();
const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
const results = [
  await measure("pan, all nodes in sight", 60, async (i) => page.mouse.move(x + 150 * Math.sin(i / 5), y + 150 * Math.cos(i / 7)), async (down) => {
    await page.mouse.move(x, y);
    await (down ? page.mouse.down() : page.mouse.up());
  }),
  await measure("zoom in and out", 40, async (i) => page.mouse.wheel(0, i < 20 ? -120 : 120)),
  await measure("arrow keys", 40, async (i) => page.locator(".tree-canvas").press(["ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft"][i % 4])),
  await measure("typing a search", 8, async (i) => page.getByRole("searchbox").press("Nat.add "[i])),
];
await browser.close();
if (file) writeFileSync(file, `${JSON.stringify(results, null, 1)}\n`);

async function measure(name, steps, act, around = async () => undefined) {
  await around(true);
  await page.evaluate(() => {
    window.frames_ = [];
    let last = performance.now();
    const count = (now) => {
      window.frames_.push(now - last);
      last = now;
      window.counter = requestAnimationFrame(count);
    };
    window.counter = requestAnimationFrame(count);
  });
  const before = await cpu();
  for (let i = 0; i < steps; i++) {
    await act(i);
    await page.waitForTimeout(12);
  }
  const work = (1000 * ((await cpu()) - before)) / steps;
  const frames = await page.evaluate(() => (cancelAnimationFrame(window.counter), window.frames_.slice(1).sort((a, b) => a - b)));
  await around(false);
  const result = { name, frame: frames[frames.length >> 1], slow: frames[Math.floor(0.95 * frames.length)], work };
  console.log(`${name.padEnd(26)} frame ${result.frame.toFixed(1)} ms, 95% below ${result.slow.toFixed(1)} ms, main thread ${work.toFixed(1)} ms each`);
  return result;
}

async function cpu() {
  const { metrics } = await protocol.send("Performance.getMetrics");
  return metrics.find((one) => one.name === "TaskDuration").value;
}
