/** A worker that writes down what it does, past every engine: one line for each attempt that it performs. */

import { openSync, writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "../src/index.js";

const [url = "", file = ""] = process.argv.slice(2);
const tale = openSync(file, "a");
const worker = new Worker({ client: url, concurrency: 8, lease: 2_000 });
worker.task("effect", async (context) => {
  // One write, so that a line is there as a whole or not at all.
  writeSync(tale, `${context.key} ${context.attempt}\n`);
  await pause(5);
  return context.attempt;
});
await worker.run();
