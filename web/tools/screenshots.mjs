// Pictures of a run's page, each behind the clicks that lead to it from the list of all runs, as docs/monitor.md names them:
// node tools/screenshots.mjs http://localhost:5050 quickstart/rl quickstart/sft ../docs/images
import { writeFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { findBrowser } from "./find_browser.mjs";

const [address, run, earlier, folder] = process.argv.slice(2);
if (!address || !run || !earlier || !folder) {
  console.error("usage: node tools/screenshots.mjs ADDRESS RUN EARLIER_RUN FOLDER");
  process.exit(2);
}
const MOST_CLICKS = 3;
const QUALITY = 62; // of WebP: letters stay sharp, and a picture takes 15 to 60 kB
const VIEW = { viewport: { width: 1180, height: 820 }, deviceScaleFactor: 1.5, reducedMotion: "reduce" };

const link = (name) => (page) => page.getByRole("link", { name, exact: typeof name === "string" }).first();
const button = (name) => (page) => page.getByRole("button", { name, exact: true }).first();
const box = (name) => (page) => page.getByRole("checkbox", { name: `Compare ${name}`, exact: true });
const card = (title) => (page) => page.locator("section.card", { has: page.getByRole("heading", { name: title, exact: true }) }).first();
const title = (page) => page.locator("main .title");
const unproved = (page) => page.locator("tbody tr", { hasText: "not proved" }).first().getByRole("link");

/** The name of a picture, what is clicked, what of the page it shows (all that is in sight, where nothing is named), its colours. */
const PICTURES = [
  ["overview", [link(run)], []],
  ["learning", [link(run)], [card("Is it learning?")]],
  ["flipped", [link(run), link(/^\+\d+ −\d+$/)], [title, (page) => page.getByRole("region", { name: / in both$/ })]],
  ["two_runs", [box(run), box(earlier)], [card("Which is better"), card("Curves of the chosen runs")]],
  ["failed", [link(run), link("Theorems"), unproved], [title, card(/^Tactics that Lean refused/)]],
  ["time", [link(run), link("Run"), link("Actors")], [card("Where the time went"), card("Timeline")], "dark"],
  ["servers", [link(run)], [card("Ranks"), card("Lean servers")]],
  ["value", [link(run), link("Model"), button("Calibration")], [title, card("Can the value tell what will be proved?")]],
  ["lately", [link(run)], [card("Proved for the first time lately"), card("What became of the tactics")]],
  ["model", [link(run), link("Model")], [title, (page) => page.locator("section.card").nth(1)]],
  ["send", [link(run), link("Run")], [(page) => page.locator(".command", { hasText: "To send it" })]],
  ["tree", [link(run), link("Theorems"), link("Search trees"), button("Proved"), (page) => page.locator("tbody a").first(), button("Fit")], [], "dark"],
];

const browser = await chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox", "--force-color-profile=srgb"] });
for (const [name, clicks, shows, theme = "light"] of PICTURES) await shoot(name, clicks, shows, theme);
await browser.close();

async function shoot(name, clicks, shows, theme) {
  const context = await browser.newContext({ ...VIEW, colorScheme: theme });
  const page = await context.newPage();
  await page.goto(address);
  for (const find of clicks) {
    await find(page).click();
    await filled(page);
  }
  if (name !== "tree" && clicks.length > MOST_CLICKS) throw new Error(`${name} takes ${clicks.length} clicks, more than ${MOST_CLICKS}`);
  await page.mouse.move(0, 0);
  const places = await Promise.all(shows.map((find) => find(page).evaluate((element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return { left: left + scrollX, top: top + scrollY, right: right + scrollX, bottom: bottom + scrollY };
  })));
  const edge = (side, choose) => choose(...places.map((place) => place[side]));
  const margin = 10;
  const clip = places.length === 0
    ? { x: 0, y: 0, ...VIEW.viewport }
    : { x: edge("left", Math.min) - margin, y: edge("top", Math.min) - margin, width: edge("right", Math.max) - edge("left", Math.min) + 2 * margin, height: edge("bottom", Math.max) - edge("top", Math.min) + 2 * margin };
  const session = await context.newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: QUALITY, captureBeyondViewport: true, clip: { ...clip, scale: 1 } });
  const picture = Buffer.from(data, "base64");
  writeFileSync(`${folder}/monitor_${name}.webp`, picture);
  console.log(`monitor_${name}.webp: ${clicks.length} click${clicks.length === 1 ? "" : "s"}, ${Math.round(picture.length / 1000)} kB`);
  await context.close();
}

/** Wait until the page shows its data, and charts and trees have been drawn. */
async function filled(page) {
  await page.waitForFunction(() => document.querySelector("h1") && document.querySelectorAll(".skeleton, [aria-busy=true]").length === 0, null, { timeout: 60_000 });
  await page.waitForTimeout(700);
}
