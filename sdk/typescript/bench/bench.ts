/**
 * A worker that does nothing, quickly: claims and completes no-op tasks until it is told to stop.
 *
 *     node dist/bench/bench.js --url URL [--queue NAME] [--concurrency N]    a worker; SIGTERM stops it
 *     node dist/bench/bench.js --url URL --tasks N [--width W | --row R]     the same, with a load of its own: runs of
 *                                                                            W tasks that are ready at once, or of R
 *                                                                            tasks in a row, all of them started
 *                                                                            before it begins
 *
 * Without `--url` and `--action` it goes by $EDGEWISE_ADDR and $EDGEWISE_ACTION, so that `edgewise bench server
 * --worker` can run it. The last line it prints is JSON: how many tasks, in how many seconds, with how much processor
 * time, and how busy the machine was meanwhile.
 */

import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { Client, Worker, call, expr, flow } from "../src/index.js";

const { values } = parseArgs({
  options: {
    url: { type: "string" },
    queue: { type: "string" },
    action: { type: "string", default: process.env["EDGEWISE_ACTION"] ?? "noop" },
    concurrency: { type: "string", default: "64" },
    tasks: { type: "string", default: "0" },
    width: { type: "string", default: "1000" },
    row: { type: "string", default: "0" },
  },
});
const client = new Client(values.url === undefined ? {} : { url: values.url });

/** Starts runs. */
async function load(): Promise<void> {
  const [tasks, width, row] = [Number(values.tasks), Number(values.width), Number(values.row)];
  const bench = flow("bench", values.queue === undefined ? {} : { queue: values.queue });
  if (row > 0) {
    for (let n = 0; n < row; n += 1) bench.task(`t${n}`, call(values.action), n === 0 ? {} : { after: `t${n - 1}` });
  } else {
    bench.task("noop", call(values.action), { each: expr(`range(${width})`) });
  }
  const count = Math.max(1, Math.floor(tasks / (row || width)));
  const starters = Array.from({ length: 8 }, async (_, n) => {
    for (let at = n; at < count; at += 8) await client.start(bench);
  });
  await Promise.all(starters);
}

/** Ticks of all processors that were spent on something, and all of them. */
function busy(): [number, number] {
  const line = readFileSync("/proc/stat", "ascii").split("\n")[0] ?? "";
  const ticks = line.split(/\s+/).slice(1).map(Number);
  const all = ticks.reduce((sum, one) => sum + one, 0);
  return [all - (ticks[3] ?? 0) - (ticks[4] ?? 0), all];
}

let [done, first, last] = [0, 0, 0];
const worker = new Worker({
  client,
  concurrency: Number(values.concurrency),
  ...(values.queue === undefined ? {} : { queues: [values.queue] }),
});
worker.task(values.action, () => {
  last = performance.now();
  if (done === 0) first = last;
  done += 1;
  if (done === Number(values.tasks)) worker.stop();
});
if (Number(values.tasks) > 0) await load();
const before = busy();
const spent = process.cpuUsage();
await worker.run();
const after = busy();
const seconds = (last - first) / 1_000;
const { user, system } = process.cpuUsage(spent);
console.log(
  JSON.stringify({
    tasks: done,
    seconds: Number(seconds.toFixed(3)),
    per_second: seconds > 0 ? Math.round(done / seconds) : null,
    worker_cpu_seconds: (user + system) / 1e6,
    machine_busy: Number(((after[0] - before[0]) / Math.max(1, after[1] - before[1])).toFixed(2)),
    cores: cpus().length,
  }),
);
