import { defineConfig } from "vite";

// The built page is part of the Python package and is committed: users need no Node.
export default defineConfig({
  base: "./",
  build: { outDir: "../src/worldwright/serve/static", emptyOutDir: true, target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false } },
});
