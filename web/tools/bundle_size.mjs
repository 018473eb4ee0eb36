// Says how large the built page is when it is sent, and fails if it is too large.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const LIMIT = 300 * 1024;
const dist = new URL("../dist/", import.meta.url).pathname;
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
