import { execFileSync } from "node:child_process";

/** The path of a Chromium on this machine, the one without windows if it is there: tests then take a quarter less processor
 *  time. $NANOPROOF_BROWSER names another one. */
export function findBrowser() {
  if (process.env.NANOPROOF_BROWSER) return process.env.NANOPROOF_BROWSER;
  for (const name of ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]) {
    try {
      return execFileSync("which", [name], { encoding: "utf8" }).trim();
    } catch {
      continue;
    }
  }
  throw new Error("no chromium: install one, or name it in NANOPROOF_BROWSER");
}
