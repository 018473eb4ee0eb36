// Builds the page; tools/bundle_size.mjs puts it into the package, where the monitor finds it. `npm run dev` serves it with a
// proxy to a monitor that runs: MONITOR_PORT (5050) says at which port.
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const monitor = `http://127.0.0.1:${process.env.MONITOR_PORT ?? "5050"}`;

export default defineConfig({
  base: "./",
  plugins: [react()],
  server: { proxy: { "/api": { target: monitor, changeOrigin: true } } },
  build: {
    outDir: "dist", emptyOutDir: true, target: "es2022", reportCompressedSize: false,
    // Styles in one file, and parts that are asked for by their names alone: a file that holds the page maps these to what is
    // inside it (nanoproof/search/render.py).
    cssCodeSplit: false,
    modulePreload: { polyfill: false, resolveDependencies: (_file, needed, { hostType }) => (hostType === "html" ? needed : []) },
  },
  // In one process, as 40 of them would take 8 s to begin and the tests a third of one.
  test: { include: ["src/**/*.test.ts"], environment: "node", isolate: false, fileParallelism: false },
});
