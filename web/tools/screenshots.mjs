// Pictures of every page of a running monitor, light and dark, and of some on a phone:
// node tools/screenshots.mjs http://localhost:5050 ../docs/images
import { chromium } from "playwright-core";
import { findBrowser } from "./find_browser.mjs";

const [address, folder] = process.argv.slice(2);
if (!address || !folder) {
  console.error("usage: node tools/screenshots.mjs ADDRESS FOLDER");
  process.exit(2);
}
const ask = async (path) => (await fetch(`${address}/api/${path}`)).json();
const proven = (await ask("theorems?outcome=proven&sort=attempts&order=desc&size=50")).items[0];
const attempts = (await ask("attempts?outcome=proven&size=100")).items.filter((attempt) => attempt.tree);
const tree = attempts.sort((a, b) => b.tactics - a.tactics)[0];
const theorem = new URLSearchParams({ dataset: proven.dataset, id: proven.id });
const pages = {
  overview: "",
  actors: "actors",
  theorems: "theorems",
  theorem: `theorem?${theorem}`,
  tree: tree ? `tree/${tree.rank}/${tree.step}/${tree.seq}` : "tree",
  model: "model",
  evaluations: "evaluations",
  profile: "profile",
};
const browser = await chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox", "--force-color-profile=srgb"] });
for (const theme of ["light", "dark"]) {
  await shoot(theme, { width: 1280, height: 840 }, Object.keys(pages), `monitor_%_${theme}.png`);
}
await shoot("light", { width: 390, height: 844 }, ["overview", "theorems", "actors"], "monitor_%_phone.png", 2);
await browser.close();

async function shoot(theme, viewport, names, pattern, deviceScaleFactor = 1) {
  const context = await browser.newContext({ viewport, colorScheme: theme, deviceScaleFactor, reducedMotion: "reduce" });
  const page = await context.newPage();
  for (const name of names) {
    await page.goto(`${address}/#/${pages[name]}`);
    await page.waitForSelector("h1");
    await page.waitForFunction(() => document.querySelectorAll(".skeleton, [aria-busy=true]").length === 0, null, { timeout: 60_000 });
    await page.waitForTimeout(2500);
    await page.screenshot({ path: `${folder}/${pattern.replace("%", name)}` });
  }
  await context.close();
}
