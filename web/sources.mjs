// The hash of everything that the built page is made from, so that a test can say when it is older than its sources.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const list = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? list(join(folder, entry.name)) : [join(folder, entry.name)],
  );

export function sourcesHash(root) {
  const names = [...list(join(root, "src")), ...["index.html", "package-lock.json", "tsconfig.json", "vite.config.ts"].map((n) => join(root, n))];
  const hash = createHash("sha256");
  for (const name of names.map((n) => n.slice(root.length + 1)).sort()) {
    hash.update(`${name}\0`).update(readFileSync(join(root, name))).update("\0");
  }
  return hash.digest("hex");
}
