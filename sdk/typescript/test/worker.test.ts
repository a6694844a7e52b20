/** What workers do: perform, report, keep leases, obey, stop. Each test has actions of its own. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import * as edgewise from "../src/index.js";
import { type Handler, type Retry, type Run, type WorkerOptions } from "../src/index.js";
import { Permanent, Retryable, Worker, call, expr, flow, item, post } from "../src/index.js";
import { ROOT, Server } from "./server.js";

const QUICK: Retry = { attempts: 3, base: 10 };
let server: Server;
before(async () => {
  server = await Server.start();
});
after(() => server.close());

/** A worker at work while something is done. */
async function working(
  handlers: Record<string, Handler>,
  act: (worker: Worker) => Promise<void>,
  options: WorkerOptions = {},
): Promise<void> {
  const worker = new Worker({ client: server.url, signals: false, ...options });
  for (const [action, handler] of Object.entries(handlers)) worker.task(action, handler);
  const running = worker.run();
  try {
    await act(worker);
  } finally {
    worker.stop();
    await running;
  }
}

/** A run of one task. */
function one(action: string, given?: Record<string, unknown>, retry: Retry = QUICK): Promise<Run> {
  const f = flow("one");
  f.output(f.task("a", call(action, given), { retry }));
  return server.client().start(f);
}

/** What is shown of a task. */
async function task(run: Run): Promise<any> {
  return (await run.show()).tasks.find((shown: any) => shown.path === "a");
}

/** Something that happens once. */
function signal(): { wait: Promise<void>; give: () => void } {
  let give = (): void => undefined;
  const wait = new Promise<void>((resolve) => (give = resolve));
  return { wait, give };
}

test("functions and promises are handlers", async () => {
  const say: Handler = (context) => ({ said: context.input.name, attempt: context.attempt });
  await working({ plain: say, promise: async (context) => say(context) }, async () => {
    for (const action of ["plain", "promise"]) {
      assert.deepEqual(await (await one(action, { name: "ann" })).result(20_000), { said: "ann", attempt: 1 });
    }
  });
});

test("a worker without handlers, a second handler and a bad claim are refused", async () => {
  await assert.rejects(new Worker({ client: server.url }).run());
  const worker = new Worker({ client: server.url, name: "no name at all" }).task("x", () => undefined);
  assert.throws(() => worker.task("x", () => undefined));
  await assert.rejects(worker.run(), edgewise.Invalid);
  const stranger = new Worker({ client: { url: server.url, token: "wrong" } }).task("x", () => undefined);
  await assert.rejects(stranger.run(), edgewise.Unauthorized);
});

test("a failure is tried again as often as it says", async () => {
  class Down extends Error {
    override name = "Down";
  }
  const cases: [string, unknown, number, string][] = [
    ["fails", new Down("not now"), 3, "Down"],
    ["text", "not an error", 3, "Error"],
    ["retryable", new Retryable("not now", { type: "down" }), 3, "down"],
    ["permanent", new Permanent("never"), 1, "Permanent"],
    ["permanent-typed", new Permanent("never", { type: "gone" }), 1, "gone"],
  ];
  for (const [action, error, attempts, kind] of cases) {
    const fail = (): never => {
      throw error;
    };
    await working({ [action]: fail }, async () => {
      const run = await one(action);
      assert.equal((await run.wait(20_000)).state, "Error");
      const shown = await task(run);
      assert.deepEqual([shown.attempt, shown.reason.failed.type], [attempts, kind]);
    });
  }
});

test("a wider type of an error is known to the flow", async () => {
  class Wide extends Error {}
  class Narrow extends Wide {}
  await working({ wider: () => Promise.reject(new Narrow("no")) }, async () => {
    const run = await one("wider", undefined, { ...QUICK, never: ["Wide"] });
    assert.equal((await run.wait(20_000)).state, "Error");
    assert.equal((await task(run)).attempt, 1);
  });
});

test("a handler says how long to wait", async () => {
  await working({ later: () => Promise.reject(new Retryable("in an hour", { after: 3_600_000 })) }, async () => {
    const run = await one("later");
    for await (const event of run.events()) {
      if (event.name !== "TaskFinished") continue;
      assert.match(JSON.stringify(event.data), /3600000/);
      break;
    }
    await run.cancel();
  });
});

test("an output without a JSON form fails for good", async () => {
  await working({ unprintable: () => 1n }, async () => {
    const run = await one("unprintable");
    assert.equal((await run.wait(20_000)).state, "Error");
    const shown = await task(run);
    assert.deepEqual([shown.attempt, shown.reason.failed.type], [1, "bad_output"]);
  });
});

test("an output that the server cannot read does not take others with it", async () => {
  let deep: unknown = 1;
  for (let n = 0; n < 500; n += 1) deep = [deep];
  const f = flow("deep");
  f.task("a", call("deep", { n: item }), { each: expr("range(20)"), tolerate: 1, retry: QUICK });
  await working({ deep: (context) => (context.input.n === 3 ? deep : context.input.n) }, async () => {
    const { a } = await (await server.client().start(f)).result(20_000);
    assert.deepEqual(a.flatMap((made: unknown, n: number) => (made === n ? [] : [n])), [3]);
  });
});

test("a failure that is no text is told all the same", async () => {
  const half: Handler = () => {
    throw new Error("half a pair: \ud800");
  };
  const odd: Handler = () => {
    throw new Permanent("odd", { type: "half \ud800" });
  };
  await working({ half, odd }, async () => {
    for (const [action, type] of [["half", "Error"], ["odd", "bad_failure"]] as const) {
      const run = await one(action);
      assert.equal((await run.wait(20_000)).state, "Error");
      assert.equal((await task(run)).reason.failed.type, type);
    }
  });
});

test("an output that no server takes is not sent", async () => {
  await working({ huge: () => "x".repeat(40 << 20) }, async () => {
    const run = await one("huge");
    assert.equal((await run.wait(20_000)).state, "Error");
    assert.equal((await task(run)).reason.failed.type, "output_too_large");
  });
});

test("heartbeats keep a task that takes longer than its lease", async () => {
  const long: Handler = async (context) => {
    await pause(2_500, undefined, { signal: context.signal });
    return "kept";
  };
  await working({ long }, async () => {
    const run = await one("long");
    assert.equal(await run.result(20_000), "kept");
    assert.equal((await task(run)).attempt, 1);
  }, { lease: 1_000 });
});

test("a flow may ask for heartbeats more often than the worker would", async () => {
  const often: Handler = async (context) => {
    await pause(2_500, undefined, { signal: context.signal });
    return "kept";
  };
  const f = flow("one");
  f.output(f.task("a", call("often"), { retry: { attempts: 1 }, timeout: { heartbeat: "600ms" } }));
  await working({ often }, async () => {
    const run = await server.client().start(f);
    assert.equal(await run.result(20_000), "kept");
  });
});

test("a cancel reaches the handler", async () => {
  const [begun, stopped] = [signal(), signal()];
  const wait: Handler = (context) => {
    begun.give();
    return new Promise((_, reject) => {
      context.signal.addEventListener("abort", () => {
        stopped.give();
        reject(context.signal.reason);
      });
    });
  };
  await working({ cancel: wait }, async () => {
    const run = await one("cancel");
    await begun.wait;
    await run.cancel();
    await stopped.wait;
    assert.equal((await run.wait(20_000)).state, "Cancelled");
  }, { lease: 1_000 });
});

test("a repeated report gets the first answer and another one is refused", async () => {
  const client = server.client();
  const run = await one("repeated");
  const claimed = await client.ask(post("/work/claim", { worker: "test", actions: ["repeated"], wait_ms: 20_000 }));
  const { lease } = claimed.leases[0];
  for (const [output, status] of [["first", 200], ["first", 200], ["second", 409]]) {
    const told = await client.ask(post("/work/complete", { results: [{ lease, output }] }));
    assert.equal(told.results[0].status, status);
  }
  assert.equal(await run.result(20_000), "first");
});

test("what was done while the server was away is reported when it is back", async () => {
  const own = await Server.start();
  const [begun, goOn] = [signal(), signal()];
  const said: string[] = [];
  const away: Handler = async (context) => {
    begun.give();
    await goOn.wait;
    return context.attempt;
  };
  const f = flow("away");
  // A second attempt would fail the run: what was reported must be what was done.
  f.output(f.task("a", call("away"), { retry: 1 }));
  f.task("b", call("away"), { after: "a", retry: 1 });
  const run = await own.client({ patience: 30_000 }).start(f);
  await working({ away }, async () => {
    await begun.wait;
    await own.kill();
    goOn.give();
    await own.restart();
    assert.equal(await run.result(20_000), 1);
  }, { client: own.url, log: (line) => said.push(line) });
  assert.ok(said.some((line) => line.includes("repeated")), said.join());
  await own.close();
});

/** `test/paused.ts` as a process. */
class Process {
  readonly folder = mkdtempSync(join(tmpdir(), "edgewise-paused-"));
  readonly flag = join(this.folder, "flag");
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(lease: number) {
    const words = ["dist/test/paused.js", server.url, this.flag, String(lease)];
    this.process = spawn(process.execPath, words, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.process.stdout! })[Symbol.asyncIterator]();
  }

  async until(word: string): Promise<void> {
    for (;;) {
      const { done, value } = await this.#lines.next();
      if (done === true) throw new Error(`the worker ended without saying ${word}`);
      if (value.includes(word)) return;
    }
  }

  go(): void {
    writeFileSync(this.flag, "");
  }

  async end(): Promise<number | null> {
    if (this.process.exitCode === null) await once(this.process, "exit");
    rmSync(this.folder, { recursive: true });
    return this.process.exitCode;
  }
}

test("a worker paused beyond its lease changes nothing", async () => {
  const first = new Process(1_000);
  const run = await one("paused");
  await first.until("begun");
  first.process.kill("SIGSTOP");
  await working({ paused: (context) => `attempt ${context.attempt}` }, async () => {
    assert.equal(await run.result(20_000), "attempt 2");
  });
  first.go();
  first.process.kill("SIGCONT");
  // Either its result came too late, or a heartbeat heard first that the attempt is over.
  await first.until("dropped");
  assert.equal(await run.result(20_000), "attempt 2");
  assert.equal(server.command("doctor").status, 0);
  first.process.kill("SIGTERM");
  await first.until("stopped");
  assert.equal(await first.end(), 0);
});

test("a worker told to stop finishes what it began", async () => {
  const worker = new Process(30_000);
  const run = await one("paused");
  await worker.until("begun");
  worker.process.kill("SIGTERM");
  worker.go();
  await worker.until("stopped");
  assert.equal(await worker.end(), 0);
  assert.equal(await run.result(20_000), "the worker that was paused");
});

test("what never began is given back unspent", async () => {
  const [begun, goOn] = [signal(), signal()];
  // Quick tasks let the worker take many ahead; the slow one then keeps them waiting.
  const block: Handler = (context) => {
    if (context.input.n < 150) return 1;
    begun.give();
    return goOn.wait.then(() => 1);
  };
  const f = flow("returned");
  f.task("a", call("returned", { n: item }), { each: expr("range(400)"), retry: { attempts: 1 } });
  const run = await server.client().start(f);
  await working({ returned: block }, async (first) => {
    await begun.wait;
    first.stop();
    // The lease is 30 seconds long: without being given back, they would not be done in time.
    await working({ returned: () => 2 }, async () => {
      let finished = 0;
      for await (const event of run.events()) {
        finished += event.name === "TaskFinished" ? 1 : 0;
        if (finished === 399) goOn.give();
      }
    });
  }, { concurrency: 1 });
  const { a } = await run.result(20_000);
  assert.deepEqual([a.length, a.includes(1), a.includes(2)], [400, true, true]);
});

test("no lease is lost when a worker stops while tasks arrive", async () => {
  const f = flow("arriving");
  f.task("a", call("arriving"), { each: expr("range(20)"), retry: { attempts: 1 } });
  const runs: Run[] = [];
  for (let n = 0; n < 10; n += 1) {
    await working({ arriving: () => null }, async () => {
      runs.push(await server.client().start(f));
    });
  }
  await working({ arriving: () => null }, async () => {
    for (const run of runs) assert.equal((await run.wait(20_000)).ok, true);
  });
});

test("a handler beyond the grace is cut short and its task tried again", async () => {
  const begun = signal();
  const cut: Handler = async (context) => {
    begun.give();
    if (context.attempt === 1) await pause(60_000, undefined, { signal: context.signal });
    return `attempt ${context.attempt}`;
  };
  const run = await one("cut");
  await working({ cut }, () => begun.wait, { grace: 200 });
  await working({ cut }, async () => assert.equal(await run.result(20_000), "attempt 2"));
});

test("a handler that notices the cut and returns nothing has not done its work", async () => {
  const begun = signal();
  const cut: Handler = async (context) => {
    if (context.attempt > 1) return `attempt ${context.attempt}`;
    begun.give();
    await new Promise<void>((end) => context.signal.addEventListener("abort", () => end()));
    return undefined;
  };
  const run = await one("cut-noticed");
  await working({ "cut-noticed": cut }, () => begun.wait, { grace: 200 });
  await working({ "cut-noticed": cut }, async () => assert.equal(await run.result(20_000), "attempt 2"));
});
