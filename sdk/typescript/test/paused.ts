/** A worker for tests that pause or stop it from outside: it says when its handler begins, and ends when told. */

import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "../src/index.js";

const [url = "", flag = "", lease = ""] = process.argv.slice(2);
const worker = new Worker({ client: url, name: "paused", concurrency: 1, lease: Number(lease), log: console.log });
worker.task("paused", async (context) => {
  console.log("begun");
  // A file that a test makes is the only thing that reaches a process which was stopped.
  while (!existsSync(flag)) await pause(20, undefined, { signal: context.signal });
  return "the worker that was paused";
});
await worker.run();
console.log("stopped");
