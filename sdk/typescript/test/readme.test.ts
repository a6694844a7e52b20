/** What the README says is done here as it stands. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT, Server } from "./server.js";

test("the example of the README compiles and prints what it says", async () => {
  const text = readFileSync(join(ROOT, "README.md"), "utf8");
  const [, example = ""] = /```ts\n(.*?)```/s.exec(text) ?? [];
  // Within the package, so that it finds itself by its name.
  const folder = mkdtempSync(join(ROOT, "dist/readme-"));
  const server = await Server.start();
  try {
    writeFileSync(join(folder, "example.ts"), example);
    const compilerOptions = { rootDir: ".", outDir: "." };
    const config = { extends: "../../tsconfig.json", compilerOptions, files: ["example.ts"], include: [] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const compiled = spawnSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
    assert.equal(compiled.status, 0, compiled.stdout);
    const env = { ...process.env, EDGEWISE_ADDR: server.url };
    const done = spawnSync(process.execPath, ["example.js"], { cwd: folder, env, encoding: "utf8", timeout: 30_000 });
    assert.deepEqual([done.status, done.stderr], [0, ""]);
    assert.ok(text.includes(`It prints \`${done.stdout.trim()}\``), done.stdout);
  } finally {
    await server.close();
    rmSync(folder, { recursive: true });
  }
});
