import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { sourcesHash } from "./sources.mjs";

const root = dirname(fileURLToPath(import.meta.url));
writeFileSync(join(root, "../src/worldwright/serve/static/sources.sha256"), `${sourcesHash(root)}\n`);
