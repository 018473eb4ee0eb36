// What the page says is true: its figures are those of the files, it tells at once how a run fares, anybody can use it,
// and five questions of a new user are answered in at most four clicks.

import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser, Page } from "playwright-core";
import { filled, launch, Monitor, monitorOfRuns, nightly, pagesOf, visit } from "./harness";

const HOME = process.env.NANOPROOF_HOME_OF_RUNS ?? "";
const PYTHON = process.env.NANOPROOF_PYTHON ?? "python3";
const AXE = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

interface Shown { run: string; page: string; name: string; text: string }

let browser: Browser;
let monitor: Monitor;

beforeAll(async () => {
  [browser, monitor] = await Promise.all([launch(), monitorOfRuns()]);
});

const withPage = pagesOf(() => browser);

const at = (run: string, page = ""): string => `${monitor.address}/?run=${encodeURIComponent(run)}#/${page}`;
const plain = (text: string): string => text.replace(/\s+/g, " ").trim();

describe("figures", () => {
  it("are those that a computation from the files gives", () => withPage("about:blank", async ({ page }) => {
    const figures = JSON.parse(readFileSync(join(HOME, "figures.json"), "utf8")) as Shown[];
    const wrong: string[] = [];
    let where = "";
    for (const { run, page: path, name, text } of figures) {
      if (where !== `${run} ${path}`) {
        where = `${run} ${path}`;
        await visit(page, at(run, path));
      }
      const found = name.startsWith("curve ")
        ? await page.getByRole("img", { name: `${name.slice(6)} ${text}` }).count() > 0 ? text : "no such curve"
        : await page.evaluate((title) => {
            const stat = [...document.querySelectorAll(".stat")].find((one) => one.querySelector("dt")?.textContent === title);
            const fact = [...document.querySelectorAll(".about > div")].find((one) => one.querySelector("dt")?.textContent === title);
            const share = [...document.querySelectorAll(".shares li")].find((one) => one.textContent?.trim().startsWith(title));
            const interval = title.startsWith("Interval") ? document.querySelector(".score-interval") : null;
            const box = stat ?? fact;
            return box ? [...box.querySelectorAll("dd")].map((one) => (one as HTMLElement).innerText).join(" ") : (share ?? interval)?.textContent ?? "nothing of this name";
          }, name);
      if (!plain(found).includes(text)) wrong.push(`${where}, ${name}: ${plain(found)} instead of ${text}`);
    }
    expect(wrong).toEqual([]);
    expect(figures.length).toBeGreaterThan(36);
  }));

  it("count an attempt that was made before the first update as one of step 1, everywhere", () =>
    withPage(at("rl/first_run", "theorem?dataset=exercises&id=either"), async ({ page }) => {
      await filled(page);
      expect(await page.locator("main").innerText()).not.toMatch(/step 0/);
      await page.goto(at("rl/first_run", "model?view=calibration"));
      await page.getByText(/steps 1 to \d/).waitFor();
    }));

  it("has times of one time zone: those of the viewer", () =>
    withPage(at("rl/first_run"), async ({ page }) => {
      await filled(page);
      const times = await page.locator(".events time").allTextContents();
      expect(new Set(times.map((time) => time.slice(0, 13)))).toEqual(new Set(["2026-11-23 17"])); // 04:55 in UTC
    }, { timezoneId: "Pacific/Auckland" }));
});

describe("how a run fares", () => {
  const HOLD = "import sys, time; from pathlib import Path; from nanoproof.common.run_dir import RunLock; lock = RunLock(Path(sys.argv[1])); print('held', flush=True); time.sleep(120)";
  const OLD = "import json, sys, psutil; from nanoproof.common.run_dir import machine_id; print(json.dumps({'host': 'here', 'pid': 1, 'created': psutil.Process(1).create_time(), 'machine': machine_id()}))";
  const WITHIN = { timeout: 5000 };
  let folder: string;
  let own: Monitor;

  const python = (...args: string[]): Promise<[ChildProcess, string]> => new Promise((resolve, reject) => {
    const child = spawn(PYTHON, args, { cwd: new URL("../..", import.meta.url).pathname, stdio: ["ignore", "pipe", "inherit"] });
    child.stdout.once("data", (said: Buffer) => resolve([child, said.toString()]));
    child.once("error", reject);
  });
  const status = (name: string, fields: object): void => writeFileSync(join(folder, name, "status_r0.json"), JSON.stringify({ phase: "collect", step: 3, actors: [], servers: [], ...fields }));
  const word = (page: Page, text: string) => page.locator(".link-state", { hasText: new RegExp(`^${text}$`) }).waitFor(WITHIN);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "nanoproof-"));
    for (const name of ["killed", "stalls", "servers"]) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, "meta.json"), JSON.stringify({ command: ["/x/nanoproof/rl/__main__.py"], versions: {}, decisions: {} }));
      writeFileSync(join(folder, name, "args.json"), "{}");
      writeFileSync(join(folder, name, "model_3.json"), "{}");
    }
    own = await Monitor.start(["-m", "nanoproof.monitor", "--run-dir", folder, "--port", "0"]);
  });
  afterAll(async () => {
    await own?.stop();
    rmSync(folder, { recursive: true });
  });

  it("is said within five seconds of SIGKILL, and of its resuming", () =>
    withPage(own.address, async ({ page }) => {
      const [first] = await python("-c", HOLD, join(folder, "killed"));
      await page.goto(`${own.address}/?run=killed#/`);
      status("killed", { time: Date.now() / 1000 });
      await word(page, "live");
      first.kill("SIGKILL");
      await word(page, "died");
      await page.getByText("The run died at").waitFor(WITHIN);
      await page.getByText(/python -m nanoproof\.rl --resume-from \S*killed/).first().waitFor(WITHIN);
      const [second] = await python("-c", HOLD, join(folder, "killed"));
      status("killed", { time: Date.now() / 1000 });
      await word(page, "live");
      await page.getByText("The run died at").waitFor({ state: "detached", ...WITHIN });
      second.kill("SIGKILL");
    }));

  it("is said within five seconds when it has written nothing for thirty", () =>
    withPage(own.address, async ({ page }) => {
      writeFileSync(join(folder, "stalls", "run.lock"), (await python("-c", OLD))[1]);
      const begun = Date.now() / 1000 - 25;
      status("stalls", { time: begun });
      await page.goto(`${own.address}/?run=stalls#/`);
      await word(page, "live");
      await page.waitForTimeout(Math.max(0, 1000 * (begun + 30) - Date.now()));
      await word(page, "stalled");
      await page.getByText(/alive, but has written nothing for \d+ s/).waitFor(WITHIN);
    }));

  it("has the word for a Lean server that is down within five seconds", () =>
    withPage(own.address, async ({ page }) => {
      const [child] = await python("-c", HOLD, join(folder, "servers"));
      const servers = (state: string) => [{ address: "host:1", state, actors: 2, cut_off: 0, error: "" }];
      status("servers", { time: Date.now() / 1000, servers: servers("up") });
      await page.goto(`${own.address}/?run=servers#/`);
      await page.locator(".badge.good", { hasText: "up" }).waitFor();
      status("servers", { time: Date.now() / 1000, servers: servers("down") });
      await page.locator(".badge.bad", { hasText: "down" }).waitFor(WITHIN);
      child.kill("SIGKILL");
    }));
});

interface Violation { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }

/** What axe finds in the page by some rules, or by all; where in the page each element stands takes a third of its time, and is not asked for. */
async function violations(page: Page, rules: readonly string[]): Promise<Violation[]> {
  const options = { resultTypes: ["violations"], selectors: false, ...(rules.length ? { runOnly: rules } : {}) };
  const answer = await page.evaluate((asked) => (window as unknown as { axe: { run: (options: object) => Promise<{ violations: Violation[] }> } }).axe.run(asked), options);
  return answer.violations;
}

describe("for everybody", () => {
  const PAGES = ["", "run", "actors", "theorems", "theorem?dataset=exercises&id=either", "tree", "tree/0/0/0", "model", "model?view=calibration", "model?view=training", "evaluations", "evaluation/2_exam_valid?result=0", "compare?a=0_exam_valid&b=2_exam_valid", "profile", "logs", "nonsense"];
  const COMPARED = "compare?a=eval_exam_test&b=eval_exam_test&of=quick%2Feval_sft&theorem=given_p";

  /** What the other theme can change. */
  const COLOURS = ["color-contrast", "link-in-text-block"];

  it("has no serious finding of axe on any page, light or dark", () => withPage("about:blank", async ({ page }) => {
    const serious: string[] = [];
    const of = (run: string, paths: string[]): string[] => paths.map((path) => at(run, path));
    const addresses = [monitor.address, `${monitor.address}/#/?with=rl%2Ffirst_run%0Arl%2Fsimulated`, ...of("rl/first_run", PAGES), ...of("quick/eval_rl", ["", COMPARED]), at("sft/short"), at("rl/simulated", "profile")];
    for (const [number, address] of addresses.entries()) {
      await page.emulateMedia({ colorScheme: "light" });
      await visit(page, address);
      if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
      await page.evaluate(() => (document.adoptedStyleSheets = [])); // axe takes nothing for seen that is not drawn
      for (const [theme, rules] of nightly([["light", []], ["dark", COLOURS]] as const, number % 2 ? 1 : 2)) { // every other page is dark too
        await page.emulateMedia({ colorScheme: theme });
        for (const { id, impact, nodes } of await violations(page, rules)) if (["serious", "critical"].includes(impact)) serious.push(`${address}, ${theme}: ${id}: ${nodes[0]!.html.slice(0, 160)} ${nodes[0]!.failureSummary}`);
      }
    }
    await page.emulateMedia({ colorScheme: null });
    expect(serious).toEqual([]);
  }), 400_000);

  it("cuts nothing of the newest scores at any width, at any pixel ratio", async () => {
    for (const [width, ratio] of nightly([[360, 3], [1440, 1], [2560, 1], [1024, 2]] as const, 3)) {
      await withPage(at("rl/simulated"), async ({ page }) => {
        await page.locator(".scores li").first().waitFor();
        const cut = await page.evaluate(() => [...document.querySelectorAll<HTMLElement>(".scores, .scores *")].filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline" && !one.closest("svg")).map((one) => one.className));
        expect(cut, `${width} px`).toEqual([]);
        expect(await page.locator(".scores").innerText()).toMatch(/\d% to [\d.]+%/);
      }, { viewport: { width, height: 900 }, deviceScaleFactor: ratio });
    }
  });
});

describe("a question of a new user", () => {
  type Click = (name: string | RegExp, role?: "link" | "button" | "checkbox") => Promise<void>;
  let listed: Record<string, string> | undefined;

  /** Where the links of the list of all runs lead to. */
  async function links(): Promise<Record<string, string>> {
    if (!listed) await withPage(monitor.address, async ({ page }) => {
      await filled(page);
      listed = Object.fromEntries(await page.locator("tbody a").evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => [one.textContent!, (one as HTMLAnchorElement).href])));
    });
    return listed!;
  }

  /** Counts what is clicked on the way from the list of all runs, of which the link to `run` is the first. */
  async function asked(most: number, run: string | null, act: (page: Page, click: Click) => Promise<void>): Promise<void> {
    const address = run === null ? monitor.address : ((await links())[run] ?? `the list has no ${run}`);
    await withPage(address, async ({ page }) => {
      let clicks = run === null ? 0 : 1;
      await filled(page);
      await act(page, async (name, role = "link") => {
        clicks++;
        await page.getByRole(role, { name, exact: typeof name === "string" }).first().click();
        await filled(page);
      });
      expect(clicks).toBeLessThanOrEqual(most);
    });
  }

  it("is answered: which of two runs is better, and is it luck", () =>
    asked(2, null, async (page, click) => {
      await click("Compare rl/first_run", "checkbox");
      await click("Compare rl/second_run", "checkbox");
      const table = page.getByRole("region", { name: "Which is better" });
      await table.waitFor();
      expect(plain(await table.innerText())).toMatch(/exam\/valid.*50\.0% 4 of 8 75\.0% 6 of 8 −25\.0 .* 0\.500 \+0 −2 rl\/second_run: More lost than gained, but chance alone could do this\./);
    }));

  it("is answered: why did this theorem fail", () =>
    asked(4, "rl/first_run", async (page, click) => {
      await click("Theorems");
      await click("either");
      await page.getByText(/The search made all of its 18 simulations without a proof/).waitFor();
      await page.getByText(/Of \d+ tactics that were tried, \d+ were refused by Lean/).waitFor();
      await click("Search tree");
      await page.getByRole("application", { name: /search tree with \d+ nodes/i }).waitFor();
    }));

  it("is answered: is it learning, what flipped, what did it prove lately", () =>
    asked(2, "rl/first_run", async (page, click) => {
      await page.getByRole("region", { name: "Is it learning?" }).or(page.locator("section", { hasText: "Is it learning?" })).first().waitFor();
      await page.getByText("No score of solver tactics alone on these theorems").waitFor();
      await page.getByText("Proved for the first time lately").waitFor();
      await click(/^\+\d+ −\d+$/);
      await page.getByText("McNemar, exact").waitFor();
    }));

  it("is answered: what does the model say here", () =>
    asked(3, "rl/first_run", async (page, click) => {
      await click("Model");
      await click("Ask", "button");
      await page.getByLabel("State").waitFor();
    }));

  it("is answered: how do I send this", () =>
    asked(2, "rl/first_run", async (page, click) => {
      await click("Run");
      await page.getByText(/python -m nanoproof\.monitor export \S*rl\/first_run --out run\.html/).waitFor();
    }));

  it("is answered: which evaluation does this event tell of", () =>
    withPage(at("rl/first_run"), async ({ page }) => {
      await page.locator(".events a", { hasText: "exam" }).first().click();
      await page.waitForURL(/#\/evaluation\/2_exam_valid/);
    }));

  it("is answered: what does the network do differently now", () =>
    asked(3, "rl/second_run", async (page, click) => {
      await click("Evaluations");
      await click("What changed since the first");
      await page.getByText("McNemar, exact").waitFor();
      const both = page.getByRole("region", { name: "given_p in both" });
      expect(await both.getByRole("heading", { level: 2, name: /^[AB]: step [02]$/ }).count()).toBe(2);
      await both.getByText("exact", { exact: false }).first().waitFor();
      await both.getByText("ended: simulations").waitFor();
    }));

  it("is answered: where do I resume", () =>
    asked(1, "rl/second_run", async (page) => {
      await page.getByText(/nanoproof\.rl --resume-from \S*second_run/).first().waitFor();
    }));

  it("is answered: why is it slow", () =>
    asked(3, "rl/simulated", async (page, click) => {
      await click("Run");
      await click("Actors");
      await page.getByText(/of the time \(\d+%\) actors |^Actors /).waitFor();
    }));

  it("is answered: is the value any good", () =>
    asked(3, "rl/simulated", async (page, click) => {
      await click("Model");
      await click("Calibration", "button");
      await page.getByText("Tactics still needed").waitFor();
    }));
});

it("the files that these tests stand on are there", () => {
  for (const name of ["figures.json", "rl/first_run", "rl/second_run", "rl/simulated", "sft/short"]) expect(existsSync(join(HOME, name)), name).toBe(true);
});
