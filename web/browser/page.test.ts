// The page in a real browser: every tab of a run that is over and of one that goes on, and what people do with them.

import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser, Page } from "playwright-core";
import { launch, Monitor, nightly, open, openTab, pagesOf, run } from "./harness";

const RECORDED = process.env.NANOPROOF_RECORDED_RUN ?? "";
const TABS = ["Overview", "Run", "Actors", "Theorems", "Search trees", "Model", "Evaluations", "Profile", "Logs"];

let browser: Browser;
let recorded: Monitor;

beforeAll(async () => {
  [browser, recorded] = await Promise.all([
    launch(),
    Monitor.start(["-m", "nanoproof.monitor", "--run-dir", RECORDED, "--port", "0"]),
  ]);
});
afterAll(async () => {
  await recorded?.stop();
});

const withPage = pagesOf(() => browser);

const tab = (page: Page, name: string) => page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name, exact: true });

async function openEveryTab(page: Page): Promise<void> {
  for (const name of TABS) {
    await openTab(page, name);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await page.getByRole("link", { name, exact: true }).and(page.locator('[aria-current="page"]')).first().waitFor();
    await page.waitForFunction(() => document.querySelectorAll(".skeleton").length === 0);
    expect(await page.getByRole("alert").count(), `${name} shows a failure`).toBe(0);
  }
}

describe("a run that is over", () => {
  it("leads from a theorem to its proof and its search tree", () =>
    withPage(`${recorded.address}/#/theorems?outcome=proven`, async ({ page }) => {
      const row = page.locator("tbody tr").first();
      await row.waitFor();
      await row.click();
      await page.waitForURL(/#\/theorem\?/);
      await page.getByRole("button", { name: /copy/i }).first().waitFor();
      await page.locator('main a[href^="#/tree/"]').first().click();
      await page.waitForURL(/#\/tree\/\d+\/\d+\/\d+/);
      await page.getByRole("application", { name: /search tree with \d+ nodes/i }).press("ArrowRight");
    }));

  it("is left for a theorem and found again where it was scrolled to; a page beyond the last one is the last one", () =>
    withPage(`${recorded.address}/#/theorems?page=99`, async ({ page }) => {
      await page.waitForURL(/page=2$/);
      await page.getByRole("button", { name: "First page" }).click();
      await page.locator("tbody tr").nth(49).waitFor();
      await page.evaluate(() => window.scrollTo(0, 700));
      await page.waitForFunction(() => history.state?.scrolled === 700);
      await page.locator("tbody tr a").nth(20).click();
      await page.waitForURL(/#\/theorem\?/);
      await page.goBack();
      await page.waitForFunction(() => window.scrollY === 700);
    }));

  it("has search trees for the keyboard: moving, folding, finding", () =>
    withPage(`${recorded.address}/#/tree?outcome=proven`, async ({ page }) => {
      await page.locator("tbody tr a").first().click();
      const tree = page.getByRole("application", { name: /search tree/i });
      const said = page.locator("#tree-selected");
      await tree.press("ArrowRight");
      await page.waitForFunction(() => document.getElementById("tree-selected")?.textContent?.includes("level 2"));
      const tactic = await said.textContent();
      await tree.press("Home");
      await tree.press("Enter");
      await tree.press("ArrowRight"); // unfolds what Enter folded
      expect(await said.textContent()).toBe(tactic);
      await tree.press("/");
      await page.keyboard.type("⊢");
      await page.getByText(/^[1-9]\d* hits?$/).waitFor();
      await page.keyboard.press("Enter");
      await page.waitForFunction((old) => document.getElementById("tree-selected")?.textContent !== old, tactic);
    }));

  it("draws a chart whose data come once", () =>
    withPage(`${recorded.address}/#/evaluations`, async ({ page }) => {
      await page.locator(".plot canvas").first().waitFor();
      await page.waitForFunction(() => {
        const canvas = document.querySelector(".plot canvas") as HTMLCanvasElement;
        const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
        let blue = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i + 3]! > 200 && data[i + 2]! - data[i]! > 120) blue++;
        return blue > 100;
      });
    }));

  it("compares two evaluations and opens a result", () =>
    withPage(`${recorded.address}/#/evaluations`, async ({ page }) => {
      const boxes = page.getByRole("checkbox", { name: /_simulated_/ });
      await boxes.nth(0).check();
      await boxes.nth(1).check();
      await page.getByRole("button", { name: "Compare the two" }).click();
      await page.getByText("McNemar, exact").waitFor();
      await page.getByRole("link", { name: /^step/ }).first().click();
      await page.getByRole("table", { name: "Results" }).locator("tbody tr").first().click();
      await page.getByRole("button", { name: "Close" }).waitFor();
    }));

  it("filters theorems as one types", () =>
    withPage(`${recorded.address}/#/theorems`, async ({ page }) => {
      await page.locator("tbody tr").first().waitFor();
      await page.getByRole("searchbox").first().fill("Nat.add");
      await page.waitForURL(/q=Nat\.add/);
      await page.waitForFunction(() => {
        const rows = [...document.querySelectorAll("tbody tr")];
        return rows.length > 0 && rows.every((row) => row.textContent?.includes("Nat.add"));
      });
    }));

  it("filters its logs by level", () =>
    withPage(`${recorded.address}/#/logs`, async ({ page }) => {
      await page.locator(".log.INFO").first().waitFor();
      await page.getByLabel("Level").selectOption("WARNING");
      await page.waitForFunction(() => document.querySelectorAll(".log.INFO").length === 0);
    }));

  it("can be used with the keyboard alone", () =>
    withPage(`${recorded.address}/#/theorems`, async ({ page }) => {
      await page.locator("tbody tr").first().waitFor();
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the page");
      await page.keyboard.press("Enter");
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
      await page.locator('tbody tr[tabindex="0"]').focus();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.waitForURL(/#\/theorem\?/);
    }, { fresh: true }));

  it("turns the pages of a table with the keyboard, one after the other", () =>
    withPage(`${recorded.address}/#/theorems`, async ({ page }) => {
      const focused = () => page.evaluate(() => (document.activeElement as HTMLTableRowElement).sectionRowIndex);
      await page.locator("tbody tr").nth(3).focus();
      for (const [key, number] of [["PageDown", 2], ["PageUp", 1], ["PageDown", 2]] as const) {
        await page.keyboard.press(key);
        await page.locator(".pager", { hasText: `${number} / 2` }).waitFor();
        await page.waitForFunction(() => document.activeElement?.matches("tbody tr"));
        expect(await focused()).toBe(3);
      }
    }));

  it("remembers the colours that were chosen", () =>
    withPage(recorded.address, async ({ page }) => {
      const theme = () => page.evaluate(() => document.documentElement.dataset["theme"]);
      expect(await theme()).toBe("light");
      await page.getByRole("button", { name: "Dark" }).click();
      await page.reload();
      expect(await theme()).toBe("dark");
      await page.getByRole("button", { name: "Auto" }).click();
      expect(await theme()).toBe("light");
    }));

  it("says which command asks its newest checkpoint about a state", () =>
    withPage(`${recorded.address}/#/model?view=ask&state=%E2%8A%A2%20True`, async ({ page }) => {
      await page.getByText("This run is over, or does not prove").waitFor();
      expect(await page.getByLabel("State").inputValue()).toBe("⊢ True");
    }));

  it("fits a phone", () =>
    withPage(recorded.address, async ({ page }) => {
      for (const name of TABS) {
        await openTab(page, name);
        await page.waitForFunction(() => document.querySelectorAll(".skeleton").length === 0);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect(wide, `${name} is wider than the screen`).toBeLessThanOrEqual(0);
      }
    }, { viewport: { width: 390, height: 844 } }));
});

describe("a run that goes on", () => {
  let live: Monitor;
  beforeAll(async () => {
    live = await Monitor.start(["tests/test_cli.py", "--port", "0", "--hours", "0.2"]);
  });
  afterAll(() => live?.stop());

  it("shows every tab without a complaint", () =>
    withPage(live.address, async ({ page }) => {
      await page.locator(".link-state", { hasText: /^live$/ }).waitFor();
      await openEveryTab(page);
    }));

  it("moves by itself", () =>
    withPage(`${live.address}/#/actors`, async ({ page }) => {
      await page.locator(".actor").first().waitFor();
      const before = await page.locator(".actors").first().innerText();
      await page.waitForFunction((old) => (document.querySelector(".actors") as HTMLElement).innerText !== old, before);
    }));

  it("leaves rows of a table that is read in their places while more comes", () =>
    withPage(`${live.address}/#/theorems`, async ({ page }) => {
      await page.locator("tbody tr").nth(30).waitFor();
      const attempts = (): Promise<number> => page.evaluate(async () => (await (await fetch("api/overview")).json()).attempts as number);
      const first = (): Promise<string> => page.locator("tbody tr a").first().innerText();
      await page.evaluate(() => window.scrollTo(0, 900));
      const [begun, row] = [await attempts(), await first()];
      while ((await attempts()) < begun + 4) await page.waitForTimeout(300);
      expect([await first(), await page.evaluate(() => window.scrollY)]).toEqual([row, 900]);
      await page.evaluate(() => window.scrollTo(0, 0));
      await page.waitForFunction((old) => document.querySelector("tbody tr a")!.textContent !== old, row);
    }));

  it("leaves a chart zoomed while more comes", () =>
    withPage(live.address, async ({ page }) => {
      const chart = page.locator(".chart", { has: page.getByRole("img", { name: /^Loss by step/ }) });
      await page.getByText(/tactics? run in/).waitFor(); // what is above it has its height
      await chart.scrollIntoViewIfNeeded();
      const box = (await chart.locator(".u-over").boundingBox())!;
      const middle = box.y + box.height / 2;
      const leftmost = async (): Promise<string | null> => {
        await page.mouse.move(box.x + 20, middle);
        await page.mouse.move(box.x + 1, middle);
        return chart.locator(".legend .where").textContent();
      };
      const first = await leftmost();
      await page.mouse.move(box.x + 0.6 * box.width, middle);
      await page.mouse.down();
      await page.mouse.move(box.x + 0.9 * box.width, middle, { steps: 5 });
      await page.mouse.up();
      const zoomed = await leftmost();
      expect(zoomed).not.toBe(first);
      await page.waitForTimeout(3000);
      expect(await leftmost()).toBe(zoomed);
    }));

  it("is asked again about what could not be loaded when the page is seen again", () =>
    withPage(live.address, async ({ page, complaints }) => {
      const show = (shown: boolean) => page.evaluate((hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, !shown);
      await page.locator(".link-state", { hasText: /^live$/ }).waitFor();
      await page.route("**/api/calibration*", (route) => route.abort());
      await page.goto(`${live.address}/#/model?view=calibration`);
      await page.getByText("This could not be loaded").waitFor();
      await page.unroute("**/api/calibration*");
      await show(false);
      await show(true);
      await page.getByRole("columnheader", { name: "Mean error" }).waitFor({ timeout: 4000 });
      complaints.length = 0; // of what it was not sent
      await page.goto("about:blank"); // whose document is not hidden
    }));
});

describe("a search that is under way", () => {
  let searching: Monitor;
  beforeAll(async () => {
    searching = await Monitor.start(["-m", "tests.fakes.watched_run", "--port", "0", "--pause", "0.12", "--budget", "30"]);
  });
  afterAll(() => searching?.stop());

  it("is watched as it grows, one of a rank at a time, and becomes the tree that is kept", () =>
    withPage(`${searching.address}/#/actors`, async ({ page }) => {
      await page.getByRole("link", { name: "Watch the search of actor 0.0" }).click();
      const canvas = page.getByRole("application", { name: /search tree with \d+ nodes/i });
      await canvas.waitFor();
      const nodes = async (): Promise<number> => Number(/with (\d+)/.exec((await canvas.getAttribute("aria-label"))!)![1]);
      const more = (than: number) => page.waitForFunction((old) => Number(/with (\d+)/.exec(document.querySelector(".tree-canvas")?.getAttribute("aria-label") ?? "")?.[1]) > old
        || document.body.innerText.includes("The search is over"), than); // on a busy machine it ends before the other page is there
      const over = page.getByText("The search is over: no proof found.");
      if (await over.count()) await page.getByRole("button", { name: "Watch its next search" }).click();
      await page.getByText("under way", { exact: true }).waitFor();
      await more(3);
      await canvas.press("ArrowRight");
      const selected = async (): Promise<string> => (await page.locator("#tree-selected").textContent())!.split(",")[0]!;
      const tactic = await selected();
      const other = await open(browser, `${searching.address}/#/tree/live/0/1`);
      await other.page.getByText("Another search of this rank is being watched").waitFor();
      expect(other.complaints).toEqual([]);
      await other.page.context().close();
      await more(await nodes());
      expect(await selected()).toBe(tactic);
      await over.waitFor({ timeout: 60_000 });
      await page.getByText("30 of 30 simulations").waitFor();
      const last = await nodes();
      await page.getByRole("link", { name: /^Its tree is kept/ }).click();
      await page.waitForURL(/#\/tree\/0\/0\/\d+$/);
      await page.getByText("30 simulations", { exact: true }).waitFor();
      expect(await nodes()).toBe(last);
    }), 120_000);

  it("answers what its model says at any state, and again; three clicks", () =>
    withPage(searching.address, async ({ page }) => {
      await openTab(page, "Model");
      await page.getByRole("button", { name: "Ask", exact: true }).click();
      const state = page.getByLabel("State");
      for (const number of [3, 4]) {
        await state.fill(`${number}`);
        await page.locator("form").getByRole("button", { name: "Ask" }).click();
        const answer = page.locator("section", { hasText: "nothing was tried in Lean" });
        await answer.locator("pre", { hasText: `${number}` }).waitFor();
        expect(await answer.locator("tbody tr").count()).toBeGreaterThan(0);
        expect(await answer.innerText()).toMatch(/tactics expected/);
      }
    }));

  it("can be chosen among the trees that are kept", () =>
    withPage(`${searching.address}/#/tree`, async ({ page }) => {
      await page.getByRole("region", { name: "Under way" }).or(page.locator("section", { hasText: "Under way" })).getByRole("link").first().click();
      await page.waitForURL(/#\/tree\/live\/0\/[01]$/);
    }));
});

describe("a monitor that is started anew", () => {
  it("is found again by itself, and meanwhile the last state is shown; then it sends what could not be had before", () =>
    withPage("about:blank", async ({ page, complaints }) => {
      const first = await Monitor.start(["-m", "nanoproof.monitor", "--run-dir", RECORDED, "--port", "0"]);
      let second: Monitor | undefined;
      try {
        await page.route("**/*_pages-*", (route) => route.abort());
        await page.goto(first.address);
        await page.locator(".link-state", { hasText: /^stopped$/ }).waitFor();
        await first.stop();
        await page.getByText("reconnecting").waitFor();
        expect(await page.getByText("Theorems proved", { exact: true }).count()).toBe(1);
        second = await Monitor.start(["-m", "nanoproof.monitor", "--run-dir", RECORDED, "--port", first.port]);
        await page.locator(".link-state", { hasText: /^stopped$/ }).waitFor();
        await page.unroute("**/*_pages-*");
        await openTab(page, "Theorems");
        await page.locator("tbody tr").first().waitFor();
        await page.goto("about:blank");
        complaints.length = 0; // of what it was not sent
      } finally {
        await first.stop();
        await second?.stop();
      }
    }));
});

describe("a folder of runs", () => {
  let folder: string;
  let monitor: Monitor;
  const lines = (...records: object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join("");

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "nanoproof-"));
    const died = join(folder, "rl", "killed");
    const sft = join(folder, "sft", "small");
    for (const path of [died, sft]) mkdirSync(path, { recursive: true });
    const versions = { nanoproof: "0123456789abcdef+", torch: "2.13" };
    const meta = { command: ["/x/nanoproof/rl/__main__.py", "--seed", "7", "--max-time", "1:00:00"], started: "2026-11-24T06:00:00+0000", versions, decisions: {} };
    writeFileSync(join(died, "meta.json"), JSON.stringify(meta));
    writeFileSync(join(died, "args.json"), JSON.stringify({ seed: 7, max_time: "1:00:00" }));
    writeFileSync(join(died, "metrics.jsonl"), lines({ step: 1, time: 1_795_500_100, loss: 0.5, unlikelihood_loss: 0 }));
    writeFileSync(join(died, "model_1.json"), "{}");
    writeFileSync(join(died, "events.jsonl"), lines({ time: 1_795_500_110, kind: "host", host: "10.0.0.8 b2", state: "gone", given_again: 5, reason: "its node has left the cluster" }));
    writeFileSync(join(died, "status_r0.json"), JSON.stringify({
      time: 1_795_500_120, phase: "train", step: 1, num_steps: 1_000_000, seconds: 900, max_seconds: 3600, theorems: 9, negative: 0, replay: 5,
      servers: [{ address: "host:1", state: "up", host: "10.0.0.7 a1" }], actors: [],
      hosts: [{ host: "10.0.0.7 a1", size: 4, under_way: 3, attempts: 120, attempts_per_minute: 8.5, given_again: 0 }],
      remote: { attempts: 150, stale: 2, given_again: 5, revision: 3 },
    }));
    writeFileSync(join(sft, "meta.json"), JSON.stringify({ ...meta, command: ["/x/nanoproof/sft.py"], decisions: { steps: "3 of 64 examples" } }));
    writeFileSync(join(sft, "metrics.jsonl"), lines(...[1, 2, 3].map((step) => ({ step, time: 1_795_500_000 + step, loss: 1 / step, step_seconds: 1, "valid/loss": 2 / step }))));
    writeFileSync(join(sft, "finished"), "");
    monitor = await Monitor.start(["-m", "nanoproof.monitor", "--run-dir", folder, "--port", "0"]);
  });
  afterAll(async () => {
    await monitor?.stop();
    rmSync(folder, { recursive: true });
  });

  it("is searched, and leads to a run that died, which says so and how to resume it", () =>
    withPage(monitor.address, async ({ page }) => {
      await page.getByRole("heading", { name: "2 runs" }).waitFor();
      expect(await page.locator("tbody tr").allInnerTexts()).toEqual([expect.stringMatching(/rl\/killed.*Died/s), expect.stringMatching(/sft\/small.*Finished.*3 of 3/s)]);
      await page.getByRole("searchbox").fill("killed");
      await page.getByText("sft/small").waitFor({ state: "detached" });
      await page.getByRole("link", { name: "rl/killed" }).click();
      await page.getByText("The run died at").waitFor();
      await page.getByText("python -m nanoproof.rl --resume-from", { exact: false }).first().waitFor();
      const text = await page.locator("main").innerText();
      expect(text).toContain("of 1 h 00 m");
      expect(text).not.toContain("1,000,000");
      expect(text).not.toContain("failed tactics");
      expect(text).not.toContain("unlikelihood_loss");
      expect(text).toContain("was up");
      expect(text).toMatch(/1 host, 8\.5 attempts a minute · 1 gone · 5 attempts made again/);
      expect(text).toMatch(/10\.0\.0\.8 b2[^]*gone[^]*its node has left the cluster/);
      await openTab(page, "Run");
      await page.getByText("with changes that no commit holds").waitFor();
      await page.getByRole("textbox", { name: "Name" }).fill("the one that was killed");
      await page.getByRole("button", { name: "Save" }).click();
      await page.locator(".head .run", { hasText: "the one that was killed" }).waitFor();
      expect(await page.locator("main").innerText()).toMatch(/--seed\s+7/);
      await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "All runs" }).click();
      await page.getByRole("heading", { name: "2 runs" }).waitFor();
      await page.getByText("the one that was killed").waitFor();
      for (const name of ["rl/killed", "sft/small"]) await page.getByRole("checkbox", { name: `Compare ${name}` }).check();
      await page.getByRole("img", { name: /^loss of rl\/killed: rl\/killed 0\.500/ }).waitFor();
      await page.getByRole("img", { name: /^loss of sft\/small: sft\/small 0\.333/ }).waitFor();
      await page.getByText(/options? that not all of them have/).click();
      expect(await page.getByRole("region", { name: "Options that not all have" }).innerText()).toMatch(/max_time\s+1:00:00\s+–/);
      await page.getByRole("button", { name: "Log scale" }).click();
      await page.getByRole("button", { name: "Time", exact: true }).click();
      await page.getByLabel("Smoothing").selectOption("0.6"); // (0.144 * 1 + 0.24 / 2 + 0.4 / 3) / 0.784
      await page.getByRole("img", { name: /sft\/small 0\.507/ }).waitFor();
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).last().click()]);
      expect(file.suggestedFilename()).toBe("loss_of_sft_small.csv");
      expect(readFileSync(await file.path(), "utf8")).toBe("step,sft/small\n1,1\n2,0.5\n3,0.3333333333333333\n");
    }));

  it("shows finetuning with its validation, and nothing of proofs", () =>
    withPage(`${monitor.address}/?run=sft%2Fsmall`, async ({ page }) => {
      await page.getByRole("img", { name: /^Validation loss by step: valid\/loss 0\.667/ }).waitFor();
      expect(await page.getByText("Theorems proved").count()).toBe(0);
      expect(await tab(page, "Theorems").count()).toBe(0);
      await openTab(page, "Run");
      expect(await page.getByRole("link", { name: "Actors" }).count()).toBe(0);
    }));

  it("fits every width, and axes keep their letters at every pixel ratio", async () => {
    for (const [width, ratio] of nightly([[360, 3], [1440, 1], [2560, 1], [768, 2]] as const, 3)) {
      await withPage(`${monitor.address}/?run=rl%2Fkilled`, async ({ page }) => {
        await page.locator(".chart canvas").first().waitFor();
        expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth), `${width} px`).toBeLessThanOrEqual(0);
        const font = await page.evaluate(() => document.querySelector<HTMLCanvasElement>(".chart canvas")!.getContext("2d")!.font);
        expect(parseFloat(/([\d.]+)px/.exec(font)![1]!)).toBeCloseTo(12 * ratio, 0);
      }, { viewport: { width, height: 900 }, deviceScaleFactor: ratio });
    }
  });
});

describe("a run with long logs and an evaluation under way", () => {
  const LINES = 1300;
  const result = (id: string): string => `${JSON.stringify({ theorem: { dataset: "demo", id, source: id }, outcome: "proven" })}\n`;
  let path: string;
  let evaluation: string;
  let monitor: Monitor;

  beforeAll(async () => {
    path = mkdtempSync(join(tmpdir(), "nanoproof-"));
    evaluation = join(path, "evals", "7_demo_valid");
    mkdirSync(evaluation, { recursive: true });
    writeFileSync(join(evaluation, "settings.json"), JSON.stringify({ settings: { dataset: "demo", split: "valid", theorems: 5 } }));
    writeFileSync(join(evaluation, "results.jsonl"), result("a"));
    const days = ["2026-11-20", "2026-11-21"];
    writeFileSync(join(path, "log.txt"), Array.from({ length: LINES }, (_, n) => `${days[Math.floor((2 * n) / LINES)]} 12:00:00 r0 INFO a: line ${n}\n`).join(""));
    monitor = await Monitor.start(["-m", "nanoproof.monitor", "--run-dir", path, "--port", "0"]);
  });
  afterAll(async () => {
    await monitor?.stop();
    rmSync(path, { recursive: true });
  });

  it("goes back to the first line, and has no line twice however one clicks", () =>
    withPage(`${monitor.address}/#/logs`, async ({ page }) => {
      await page.locator(".log").first().waitFor();
      const button = page.getByRole("button", { name: "Earlier lines" });
      while (await button.count()) {
        await button.dblclick();
        await page.waitForFunction(() => !document.querySelector(".earlier:disabled"));
      }
      const texts = await page.locator(".log .text").allTextContents();
      expect(texts.map((text) => Number(text.split(" ").pop()))).toEqual(Array.from({ length: LINES }, (_, n) => n));
      expect(await page.locator(".log-box .day").allTextContents()).toEqual(["2026-11-20", "2026-11-21"]);
    }));

  it("loses no warning though thousands of other lines come", () =>
    withPage(`${monitor.address}/#/logs?level=WARNING`, async ({ page }) => {
      const write = (text: string): void => appendFileSync(join(path, "log.txt"), `2026-11-21 13:00:00 r0 ${text}\n`);
      await page.getByText("The run has logged nothing of this level yet.").waitFor();
      await page.waitForTimeout(1500); // the stream has begun
      write("WARNING a: first");
      await page.locator(".log", { hasText: "first" }).waitFor();
      write(Array.from({ length: 4000 }, (_, n) => `INFO a: other ${n}`).join("\n2026-11-21 13:00:00 r0 "));
      write("WARNING a: second");
      await page.locator(".log", { hasText: "second" }).waitFor();
      expect(await page.locator(".log .text").allTextContents()).toEqual(["a first", "a second"]);
    }));

  it("shows samples as soon as there are some", () =>
    withPage(`${monitor.address}/#/model`, async ({ page }) => {
      await page.getByText("No samples yet").waitFor();
      writeFileSync(join(path, "samples_r0.jsonl"), `${JSON.stringify({ step: 0, state: "⊢ a", id: "some theorem", dataset: "demo" })}\n`);
      await page.getByText("some theorem").waitFor();
    }));

  it("shows the results of all ranks as they come", () =>
    withPage(`${monitor.address}/#/evaluation/7_demo_valid`, async ({ page }) => {
      await page.getByText("1 of 1, 5 in all").waitFor();
      writeFileSync(join(evaluation, "results_r1.jsonl"), result("b"));
      await page.getByText("2 of 2, 5 in all").waitFor();
    }));
});

describe("files without a monitor", () => {
  let folder: string;
  const TREES = `file://${process.env.NANOPROOF_TREES_FILE}`;
  const offline = { offline: true };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "nanoproof-"));
    const file = join(folder, "run.html");
    await run(["-m", "nanoproof.monitor", "export", RECORDED, "--out", file, "--trees", "4"], file);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("show a run: charts, theorems, scores, trees, and say what they lack", () =>
    withPage(`file://${join(folder, "run.html")}`, async ({ page }) => {
      await page.getByRole("img", { name: /^Loss by step/ }).waitFor();
      expect(await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allInnerTexts()).toEqual(["Overview", "Theorems", "Evaluations", "Run"]);
      for (const name of ["Run", "Evaluations", "Theorems"]) {
        await openTab(page, name);
        await page.waitForFunction(() => document.querySelectorAll(".skeleton").length === 0);
        expect(await page.getByRole("alert").count(), name).toBe(0);
      }
      await page.getByRole("button", { name: /^Proved/ }).click();
      await page.locator("tbody tr").first().click();
      const link = page.getByRole("link", { name: /web editor/ });
      expect(await link.getAttribute("href")).toMatch(/^https:\/\/live\.lean-lang\.org\/#code=\S+$/);
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: ".lean", exact: true }).click()]);
      expect(readFileSync(await file.path(), "utf8")).toMatch(/^-- .* proof of attempt \d+\/\d+\/\d+[^]*\n\ntheorem /m);
      await openTab(page, "Search trees");
      const trees = page.getByRole("table", { name: "Attempts with a search tree" }).locator("tbody tr"); // the page before it has a table too
      await trees.nth(3).waitFor();
      expect(await trees.count()).toBe(4);
      await trees.first().click();
      await page.getByRole("application", { name: /search tree/i }).press("ArrowRight");
      await page.evaluate(() => (location.hash = "#/logs"));
      await page.getByText("This is not in the file").waitFor();
    }, offline));

  it("replay a search, simulation by simulation", () =>
    withPage(TREES, async ({ page }) => {
      const slider = page.getByRole("slider", { name: "Simulation" });
      const visits = page.locator(".facts-grid dd").first();
      await slider.waitFor();
      const all = Number(await slider.getAttribute("max"));
      expect(await slider.inputValue()).toBe(String(all));
      expect(await visits.innerText()).toBe(String(all));
      await slider.fill("3");
      await page.getByText(`3 of ${all}: `).waitFor();
      expect(await visits.innerText()).toBe("3");
      await slider.press("ArrowLeft");
      await page.getByText(`2 of ${all}: `).waitFor();
      await slider.fill("0");
      await page.getByText("before the first simulation").waitFor();
      await page.getByRole("button", { name: "Replay" }).click();
      await page.getByRole("button", { name: "Replay" }).waitFor(); // it was "Pause" until the end
      await page.getByText(`${all} simulations`, { exact: true }).last().waitFor();
      await page.getByLabel("Which search").selectOption({ index: 1 });
      await page.getByText("300 simulations", { exact: true }).last().waitFor();
    }, offline));

  it("open with the whole width used and texts in sight, on every screen", async () => {
    for (const [width, ratio] of nightly([[360, 3], [768, 1], [1440, 1], [1440, 2]] as const, 3)) {
      await withPage(TREES, async ({ page }) => {
        await page.getByLabel("Which search").selectOption({ index: 1 });
        await page.locator(".tree-canvas").waitFor();
        await page.waitForTimeout(300);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth), `${width} px`).toBeLessThanOrEqual(0);
        const seen = await page.evaluate(() => {
          const canvas = document.querySelector<HTMLCanvasElement>(".tree-canvas")!;
          const { data, width, height } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
          let [right, down] = [0, 0];
          for (let i = 3; i < data.length; i += 4) {
            if (!data[i]) continue;
            right = Math.max(right, (((i - 3) / 4) % width) / width);
            down = Math.max(down, Math.floor((i - 3) / 4 / width) / height);
          }
          return { right, down, letters: parseFloat(/([\d.]+)px/.exec(canvas.getContext("2d")!.font)![1]!) * canvas.getContext("2d")!.getTransform().a };
        });
        expect(seen.right, `${width} px`).toBeGreaterThan(0.8);
        expect(seen.down, `${width} px`).toBeGreaterThan(0.6);
        expect(seen.letters / ratio, `${width} px`).toBeGreaterThan(6); // those of a fold's count are the smallest
      }, { viewport: { width, height: 800 }, deviceScaleFactor: ratio, offline: true });
    }
  });
});
