// The tests of the page in a real browser; tests/web/test_page.py starts them. One thread, and so one browser, runs all files.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["browser/**/*.test.ts"], environment: "node", testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false, isolate: false, pool: "threads" },
});
