// Says how large the built page is when it is sent, and fails if it is too large. Beside it goes a digest of its sources,
// so that a page older than them is noticed (tests/web/test_page.py).
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const LIMIT = 300 * 1024;
const dist = new URL("../../nanoproof/monitor/static/page/", import.meta.url).pathname;
const web = new URL("../", import.meta.url).pathname;
const sources = readdirSync(join(web, "src"), { recursive: true, withFileTypes: true })
  .filter((file) => file.isFile() && !file.name.endsWith(".test.ts"))
  .map((file) => join(file.parentPath ?? file.path, file.name).slice(web.length))
  .concat(["index.html", "package.json", "package-lock.json", "vite.config.ts"]).sort();
const digest = createHash("sha256");
for (const name of sources) digest.update(`${name}\0`).update(readFileSync(join(web, name)));
if (process.argv[2] === "--stamp") writeFileSync(join(dist, "sources.txt"), `${digest.digest("hex")}\n`);
let total = 0;
for (const file of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!file.isFile()) continue;
  const path = join(file.parentPath ?? file.path, file.name);
  const size = gzipSync(readFileSync(path), { level: 9 }).length;
  total += size;
  console.log(`${String((size / 1024).toFixed(1)).padStart(8)} KB  ${path.slice(dist.length)}`);
}
console.log(`${String((total / 1024).toFixed(1)).padStart(8)} KB  together, gzipped (at most ${LIMIT / 1024})`);
if (total > LIMIT) process.exit(1);
