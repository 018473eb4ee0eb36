// Says how large the built page is when it is sent, gzipped, and fails if it is too large: what a browser needs before any page
// is on show, and all parts together, which it fetches when that one is there (src/app/later.tsx). With --install it is the one just built
// (web/dist), which then takes the place of that in the package while a monitor may be serving it: scripts first, their
// names say what is in them; then, in one step, the page that names them; then what was there before goes. Beside it lies
// a digest of its sources, so that a page older than them is noticed (tests/web/test_page.py).
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";

const SHOWN_LIMIT = 150_000;
const TOTAL_LIMIT = 170_000;
const web = new URL("../", import.meta.url).pathname;
const [flag, ...folders] = process.argv.slice(2);
const installs = flag === "--install";
const built = folders[0] ?? join(web, "dist");
const place = folders[1] ?? join(web, "../nanoproof/monitor/static/page");

function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath ?? file.path, file.name).slice(folder.length + 1)).sort();
}

function digestOfSources() {
  const sources = filesOf(join(web, "src")).filter((name) => !name.endsWith(".test.ts")).map((name) => `src/${name}`)
    .concat(["index.html", "package.json", "package-lock.json", "vite.config.ts"]).sort();
  const digest = createHash("sha256");
  for (const name of sources) digest.update(`${name}\0`).update(readFileSync(join(web, name)));
  return digest.digest("hex");
}

/** `index.html` last: whoever loads it finds all that it names. */
function install() {
  const names = filesOf(built);
  for (const name of [...names.filter((one) => one !== "index.html"), "index.html"]) {
    const file = join(place, name);
    mkdirSync(dirname(file), { recursive: true });
    copyFileSync(join(built, name), `${file}.new`);
    renameSync(`${file}.new`, file);
  }
  for (const name of filesOf(place)) if (!names.includes(name)) rmSync(join(place, name));
}

if (installs) writeFileSync(join(built, "sources.txt"), `${digestOfSources()}\n`);
const measured = installs ? built : place;
const sizes = new Map(filesOf(measured).map((name) => [name, gzipSync(readFileSync(join(measured, name)), { level: 9 }).length]));

/** A file, and all files that it cannot be without: those that HTML names, and that a script imports at its head. */
function withNeeded(name, needed = new Set()) {
  if (needed.has(name)) return needed;
  needed.add(name);
  const text = readFileSync(join(measured, name), "utf8");
  const imports = name.endsWith(".html") ? /(?:src|href)="\.\/([^"]+)"/g : /(?:from|import)\s*["'`]\.\/([^"'`]+)["'`]/g;
  for (const [, other] of text.matchAll(imports)) withNeeded(join(dirname(name), other), needed);
  return needed;
}

const first = withNeeded("index.html");
const shown = new Map([["the list of runs, the overview", first]]);
for (const name of sizes.keys()) if (name.includes("_pages-")) shown.set(name.slice(name.indexOf("/") + 1, name.indexOf("-")), new Set([...first, ...withNeeded(name)]));

const line = (bytes, what) => console.log(`${(bytes / 1000).toFixed(1).padStart(8)} kB  ${what}`);
const sum = (names) => [...names].reduce((bytes, name) => bytes + sizes.get(name), 0);
for (const [name, bytes] of sizes) line(bytes, name);
for (const [what, names] of shown) line(sum(names), `for ${what} (at most ${SHOWN_LIMIT / 1000})`);
line(sum(sizes.keys()), `together (at most ${TOTAL_LIMIT / 1000})`);
if (sum(sizes.keys()) > TOTAL_LIMIT || [...shown.values()].some((names) => sum(names) > SHOWN_LIMIT)) process.exit(1);
if (installs) install();
