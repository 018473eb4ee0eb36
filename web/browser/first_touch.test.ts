// What a new user meets first: evaluations beside runs, two runs side by side, theorems that one clicks on one after the
// other, and words that mean the same on every page.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser, Page } from "playwright-core";
import { filled, launch, Monitor, monitorOfRuns, openTab, pagesOf } from "./harness";

const HOME = process.env.NANOPROOF_HOME_OF_RUNS ?? "";

let browser: Browser;
let monitor: Monitor;

beforeAll(async () => {
  [browser, monitor] = await Promise.all([launch(), monitorOfRuns()]);
});

const withPage = pagesOf(() => browser);

const at = (run: string, page = ""): string => `${monitor.address}/?run=${encodeURIComponent(run)}#/${page}`;
const main = (page: Page): Promise<string> => page.locator("main").innerText();
const wide = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

describe("a comparison of two evaluations", () => {
  it("shows one theorem after the other, and each again", () =>
    withPage(at("rl/second_run", "compare?a=0_exam_valid&b=2_exam_valid"), async ({ page }) => {
      const names = page.locator(".changed-list a");
      await names.first().waitFor();
      const texts = [...new Set(await names.allInnerTexts())];
      expect(texts.length).toBeGreaterThan(1);
      for (const name of [...texts, ...texts]) {
        await page.locator(".changed-list a", { hasText: name }).first().click();
        await page.getByRole("region", { name: `${name} in both` }).waitFor();
        expect(await page.getByRole("alert").count(), name).toBe(0);
      }
    }));
});

describe("a folder of evaluations", () => {
  it("is a page of its own: score, interval, curve, tactics, others on the same theorems", () =>
    withPage(at("quick/eval_rl"), async ({ page }) => {
      await page.getByRole("region", { name: "Against others" }).waitFor();
      const text = await main(page);
      expect(text).toMatch(/75\.0%\s+6 of 8/);
      expect(text).toMatch(/40\.9% to 92\.9%/);
      expect(text).toMatch(/\d+ tactics? run in \d+ simulations?; \d+% were refused/);
      expect(text).toMatch(/quick\/eval_sft\s+exam\/test\s+50\.0%\s+75\.0%\s+\+25\.0/);
      expect(text).not.toMatch(/Unknown|has happened yet|No actors/);
      await page.getByRole("img", { name: /^Share solved by simulations/ }).waitFor();
      expect(await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allInnerTexts()).toEqual(["All runs", "Overview", "Evaluations"]);
      await page.locator(".link-state", { hasText: /^finished$/ }).waitFor();
    }));

  it("shows statements, and finds theorems by them", () =>
    withPage(at("quick/eval_rl", "evaluation/eval_exam_test"), async ({ page }) => {
      await page.locator(".statement").first().waitFor();
      const all = await page.locator("tbody tr .statement").allInnerTexts();
      await page.getByRole("searchbox").fill("∨");
      await page.waitForURL(/q=/);
      await page.waitForFunction((before) => document.querySelectorAll("tbody tr .statement").length < before, all.length);
      for (const text of await page.locator("tbody tr .statement").allInnerTexts()) expect(text).toContain("∨");
    }));

  it("leads to the theorems that another one proved and it did not", () =>
    withPage(at("quick/eval_sft"), async ({ page }) => {
      await page.getByRole("region", { name: "Against others" }).getByRole("link", { name: "+0 −2" }).click();
      await page.getByText("McNemar, exact").waitFor();
      for (const name of ["given_p", "given_q"]) {
        await page.locator(".changed-list a", { hasText: name }).click();
        const both = page.getByRole("region", { name: `${name} in both` });
        await both.getByText("ended: simulations").waitFor();
        expect(await both.getByRole("heading", { level: 2 }).allInnerTexts()).toEqual([name, "A: quick/eval_rl", "B: quick/eval_sft"]);
      }
      await page.getByRole("link", { name: "Swap" }).click();
      await page.getByText("+25.0").waitFor();
    }));
});

describe("two runs", () => {
  it("are compared by the evaluations of their checkpoints, whichever was chosen first", async () => {
    for (const order of [["quick/rl", "quick/sft"], ["quick/sft", "quick/rl"]]) {
      await withPage(monitor.address, async ({ page }) => {
        for (const name of order) await page.getByRole("checkbox", { name: `Compare ${name}` }).check();
        const table = page.getByRole("region", { name: "Which is better" });
        await table.waitFor();
        expect((await table.innerText()).replace(/\s+/g, " ")).toMatch(/exam\/test 12 simulations 75\.0% 6 of 8 50\.0% 4 of 8 \+25\.0 .*quick\/rl: More gained than lost/);
        await page.getByRole("img", { name: /^loss of quick\/rl:/ }).waitFor(); // not squeezed into the axis of the other
        await page.getByRole("img", { name: /^loss of quick\/sft:/ }).waitFor();
        expect(await page.getByRole("region", { name: "Options that not all have" }).isVisible()).toBe(false);
        await page.getByText(/options that not all of them have/).click();
        await page.getByRole("region", { name: "Options that not all have" }).waitFor();
        expect(await page.getByRole("region", { name: "Options that differ" }).getByText("–", { exact: true }).count()).toBeLessThan(3);
      });
    }
  });

  it("are seen on a phone with their scores, and side by side without scrolling sideways", () =>
    withPage(monitor.address, async ({ page }) => {
      const row = page.locator("tbody tr", { hasText: "rl/first_run" });
      expect(await row.innerText()).toMatch(/rl · step 2.* · loss [\d.]+ · 75\.0% of exam\/valid/);
      expect(await row.locator("text=75.0%").first().isVisible()).toBe(true);
      for (const name of ["quick/rl", "quick/sft"]) await page.getByRole("checkbox", { name: `Compare ${name}` }).check();
      await page.getByText(/options that not all of them have/).click();
      for (const name of ["Which is better", "Options that differ", "Options that not all have"]) {
        const table = page.getByRole("region", { name });
        await table.locator("td").first().waitFor();
        expect(await table.evaluate((element) => element.scrollWidth - element.clientWidth), name).toBe(0);
      }
      expect(await wide(page)).toBeLessThanOrEqual(0);
    }, { viewport: { width: 360, height: 740 } }));
});

describe("what learning looks like", () => {
  let folder: string;
  let own: Monitor;
  const lines = (...records: object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join("");

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "nanoproof-"));
    const [run, now] = [join(folder, "rl"), Date.now() / 1000];
    mkdirSync(run);
    writeFileSync(join(run, "meta.json"), JSON.stringify({ command: ["/x/nanoproof/rl/__main__.py"], versions: {}, decisions: {} }));
    writeFileSync(join(run, "args.json"), JSON.stringify({ num_steps: 1_000_000 }));
    const steps = [1, 2, 3, 4].map((step) => ({
      step, time: now - 100 + step, loss: step === 4 ? 9 : 0.5, attempts: step === 4 ? 3 : 80, proofs: step === 4 ? 1 : 40, errors: 0,
      transitions: step === 4 ? 5 : 150, "seconds/collect": step === 4 ? 1 : 20, "seconds/train": 8,
    }));
    writeFileSync(join(run, "metrics.jsonl"), lines(...steps));
    writeFileSync(join(run, "status_r0.json"), JSON.stringify({ time: now + 3600, phase: "collect", step: 4, num_steps: 1_000_000, remaining: 235_000_000, seconds: 90, collect_transitions: 150, actors: [], servers: [] }));
    own = await Monitor.start(["-m", "nanoproof.monitor", "--run-dir", run, "--port", "0"]);
  });
  afterAll(async () => {
    await own?.stop();
    rmSync(folder, { recursive: true });
  });

  it("a run without an end says so, and no million or years", () =>
    withPage(own.address, async ({ page }) => {
      await page.locator(".link-state", { hasText: /^live$/ }).waitFor();
      await page.getByRole("img", { name: /^Each collection by step/ }).waitFor();
      const text = `${await main(page)} ${await page.locator(".head").innerText()}`;
      expect(text).not.toMatch(/1,000,000|to go|since the last step/);
      expect(await page.getByRole("img", { name: /^Each collection by step/ }).getAttribute("aria-label")).toMatch(/attempts 80/); // without the step that was cut short
      await page.getByText("without the last step, which was cut short").first().waitFor();
    }));

  it("an address that nobody has says so", () =>
    withPage(`${own.address}/#/nonsense`, async ({ page }) => {
      await page.getByRole("heading", { name: "No such page" }).waitFor();
      await page.getByRole("link", { name: "The overview of the run" }).click();
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    }));

  it("an address of a run that there is not says so", () =>
    withPage(at("rl/nothing"), async ({ page, complaints }) => {
      await page.locator(".link-state", { hasText: "the monitor knows no such run" }).waitFor();
      await page.goto("about:blank");
      expect(complaints.splice(0).every((one) => one.includes("404"))).toBe(true);
    }));

  it("an address that does not say of what asks which, and the server nothing", () =>
    withPage(`${own.address}/#/theorem`, async ({ page }) => {
      await page.getByText("Which theorem?").waitFor();
      for (const [address, question] of [["theorem?id=x", "Which theorem?"], ["evaluation", "Which evaluation?"], ["tree/1", "Which search tree?"], ["tree/live/a/b", "Which search tree?"]] as const) {
        await page.evaluate((hash) => (location.hash = hash), `#/${address}`);
        await page.getByText(question).waitFor();
      }
    }));

  it("trees come by time", () =>
    withPage(at("rl/simulated", "tree"), async ({ page }) => {
      await page.locator("tbody tr").nth(5).waitFor();
      const asked = await page.evaluate(async () => (await (await fetch(`api/attempts?run=${encodeURIComponent("rl/simulated")}&tree=true&size=50`)).json()).items.map((one: { time: number }) => one.time));
      expect(asked).toEqual([...asked].sort((a: number, b: number) => b - a));
    }));

  it("a timeline says what its rows and colours are", () =>
    withPage(at("rl/simulated", "profile"), async ({ page }) => {
      await page.getByRole("list", { name: "Colours of the timeline" }).waitFor();
      const text = await main(page);
      expect(text).toMatch(/phase: collect/);
      expect(text).toMatch(/rank 0|actor 0\.0/);
    }));

  it("no attempt is of a step that the run does not have, and a proof says which of its tactics are learned", () =>
    withPage(at("rl/first_run", "theorems"), async ({ page }) => {
      await page.locator("tbody tr").first().waitFor();
      await openTab(page, "Search trees");
      const trees = page.getByRole("table", { name: "Attempts with a search tree" }).locator("tbody tr");
      await trees.first().waitFor();
      const steps = await trees.locator("td:nth-child(4)").allInnerTexts();
      for (const step of steps) expect(step).toMatch(/^(1|2|after 2)$/);
      await page.goto(at("rl/first_run", "theorem?dataset=exercises&id=either"));
      await filled(page);
      expect(await main(page)).not.toMatch(/tactics to go/);
    }));
});

describe("the overview of a run", () => {
  it("shows newly found proofs, and what became of the tactics", () =>
    withPage(at("rl/first_run"), async ({ page }) => {
      const buttons = page.getByRole("list", { name: "Newest proofs" }).getByRole("button");
      await buttons.first().waitFor();
      for (const button of [...(await buttons.all()), ...(await buttons.all())]) {
        await button.click();
        const name = await button.innerText();
        await page.locator(`[aria-label="Proof of ${name}"]`).first().waitFor();
      }
      await page.getByText(/tactics run in [\d,]+ simulations; \d+% were refused/).waitFor();
    }));

  it("finds theorems by their statements", () =>
    withPage(at("rl/first_run", "theorems"), async ({ page }) => {
      await page.locator(".statement").first().waitFor();
      await page.getByRole("searchbox").fill("∨");
      await page.waitForURL(/q=/);
      await page.waitForFunction(() => [...document.querySelectorAll(".statement")].every((one) => one.textContent!.includes("∨")));
      expect(await page.locator(".statement").count()).toBeGreaterThan(0);
    }));

  it("says first whether it learns, which theorems flipped, and leads to both proofs, one after the other", () =>
    withPage(at("rl/second_run"), async ({ page }) => {
      await page.getByRole("heading", { level: 2 }).first().waitFor();
      const titles = page.getByRole("heading", { level: 2 });
      await page.getByText("Proved for the first time lately").waitFor();
      expect((await titles.allInnerTexts()).slice(0, 1)).toEqual(["Is it learning?"]);
      const flipped = page.getByRole("group", { name: "Flipped on exam/valid" });
      await flipped.waitFor();
      const names = await flipped.locator("a.mono").allInnerTexts();
      expect(names.length).toBeGreaterThan(1);
      for (const name of names.slice(0, 2)) {
        await flipped.getByRole("link", { name, exact: true }).click();
        await page.getByRole("region", { name: `${name} in both` }).waitFor();
        await page.goBack();
        await flipped.waitFor();
      }
    }));

  it("a report of evaluations can be sent: one file without a monitor, failures with their trees, two side by side", () =>
    withPage(`file://${join(HOME, "report", "report.html")}`, async ({ page }) => {
      await page.getByRole("link", { name: "Theorems and proofs" }).first().click();
      await page.getByRole("table", { name: "Results" }).waitFor(); // what the page before has three of is gone
      await page.getByRole("img", { name: /^Share solved by simulations/ }).waitFor();
      const rows = page.getByRole("table", { name: "Results" }).locator("tbody tr");
      for (const at of [0, 1, 2, 0]) {
        await rows.nth(at).click();
        await page.getByRole("button", { name: "Close" }).waitFor();
        expect(await page.getByRole("alert").count()).toBe(0);
      }
      await page.getByRole("link", { name: "Search tree" }).click();
      await page.getByRole("application").waitFor();
    }, { offline: true }));
});
