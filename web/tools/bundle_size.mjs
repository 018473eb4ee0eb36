// Says how large the built page is when it is sent, and fails if it is too large. With --install it is the one just built
// (web/dist), which then takes the place of that in the package while a monitor may be serving it: scripts first, their
// names say what is in them; then, in one step, the page that names them; then what was there before goes. Beside it lies
// a digest of its sources, so that a page older than them is noticed (tests/web/test_page.py).
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";

const LIMIT = 300 * 1024;
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
let total = 0;
for (const name of filesOf(measured)) {
  const size = gzipSync(readFileSync(join(measured, name)), { level: 9 }).length;
  total += size;
  console.log(`${String((size / 1024).toFixed(1)).padStart(8)} KB  ${name}`);
}
console.log(`${String((total / 1024).toFixed(1)).padStart(8)} KB  together, gzipped (at most ${LIMIT / 1024})`);
if (total > LIMIT) process.exit(1);
if (installs) install();
