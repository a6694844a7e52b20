/** The worker: claims tasks, performs their handlers, reports how they ended, until it is told to stop. */

import { hostname } from "node:os";
import { Heart } from "./beat.js";
import { Claimer } from "./claim.js";
import { Client, type ClientOptions } from "./client.js";
import { wireFailure } from "./errors.js";
import { type Context, Hand, type Held } from "./hand.js";
import { Reporter } from "./report.js";

/** What performs an action. What it returns, or what its promise comes to, is the task's output. */
export type Handler = (context: Context) => unknown;

/** Where a worker says what goes wrong around it. */
export type Log = (line: string) => void;

/** How a worker works. Times are in milliseconds. */
export interface WorkerOptions {
  /** The server. */
  client?: Client | ClientOptions | string;
  /** What people see of it. */
  name?: string;
  /** The queues it takes tasks from; all of them if absent. */
  queues?: readonly string[];
  /** How many handlers are at work at once. */
  concurrency?: number;
  /**
   * How many leases at most it takes before they can begin: 0 where an attempt must not be spent by a worker that
   * dies before it began.
   */
  ahead?: number;
  /** How long the server waits for a sign of life before it gives a task to somebody else. */
  lease?: number;
  /** How long handlers may take when the worker is told to stop. */
  grace?: number;
  /** Whether SIGTERM and SIGINT stop it. */
  signals?: boolean;
  /** Where it says what goes wrong around it; nowhere if absent. */
  log?: Log;
}

/** How long handlers that were interrupted may take to notice. */
const LAST_MS = 1_000;

/** A worker. Register handlers with `task`, then `run` it. */
export class Worker {
  readonly #client: Client;
  readonly #options: Required<Omit<WorkerOptions, "client" | "queues">> & Pick<WorkerOptions, "queues">;
  readonly #handlers = new Map<string, Handler>();
  readonly #hand = new Hand();
  readonly #stop = new AbortController();
  readonly #hurry = new AbortController();
  #ready: Held[] = [];
  #at = 0;
  #running = 0;

  constructor(options: WorkerOptions = {}) {
    const { client, ...rest } = options;
    this.#client = client instanceof Client ? client : new Client(client);
    const name = `${hostname().split(".")[0]}-${process.pid}`;
    const times = { lease: 30_000, grace: 30_000 };
    this.#options = { name, concurrency: 16, ahead: 2_000, ...times, signals: true, log: () => undefined, ...rest };
  }

  /** Registers the handler of an action. */
  task(action: string, handler: Handler): this {
    if (this.#handlers.has(action)) throw new Error(`the action ${action} has a handler already`);
    this.#handlers.set(action, handler);
    return this;
  }

  /** Tells it to stop: no new tasks, what began is finished, what did not is given back. The second time: at once. */
  stop(): void {
    if (this.#stop.signal.aborted) this.#hurry.abort();
    this.#stop.abort();
  }

  /** Works until it is stopped, by `stop`, SIGTERM or SIGINT. A refused claim is thrown. A worker runs once. */
  async run(): Promise<void> {
    if (this.#handlers.size === 0) {
      throw new Error('the worker has no handlers: register some with worker.task("action", …)');
    }
    const { log, lease, concurrency, ahead, queues, name, signals } = this.#options;
    const stop = (): void => this.stop();
    if (signals) for (const signal of SIGNALS) process.on(signal, stop);
    const reporter = new Reporter(this.#client, this.#hand, log);
    const heart = new Heart(this.#client, this.#hand, lease, log);
    const wish = { worker: name, actions: [...this.#handlers.keys()], queues, lease_ms: Math.round(lease) };
    const claimer = new Claimer(this.#client, this.#hand, wish, { atOnce: concurrency, ahead }, log);
    try {
      for await (const leases of claimer.leases(this.#stop.signal)) {
        this.#ready.push(...this.#hand.take(leases));
        if (!this.#stop.signal.aborted) this.#fill(reporter);
      }
    } finally {
      this.#stop.abort();
      await this.#windUp(heart);
      await reporter.close(this.#options.grace);
      heart.stop();
      if (signals) for (const signal of SIGNALS) process.off(signal, stop);
    }
  }

  /** Begins what there is room for. */
  #fill(reporter: Reporter): void {
    while (this.#running < this.#options.concurrency && this.#at < this.#ready.length) {
      const held = this.#ready[this.#at] as Held;
      this.#at += 1;
      if (this.#hand.begin(held)) this.#perform(held, reporter);
    }
    if (this.#at === this.#ready.length) {
      this.#ready = [];
      this.#at = 0;
    }
  }

  /** A handler that is done at once is reported at once: no promise is waited for. */
  #perform(held: Held, reporter: Reporter): void {
    try {
      const made = this.#handlers.get(held.context.action)?.(held.context);
      if (!isPromise(made)) return this.#end(held, succeeded(held, made), reporter);
      this.#running += 1;
      const then = (report: string): void => {
        this.#running -= 1;
        this.#end(held, report, reporter);
        if (!this.#stop.signal.aborted) this.#fill(reporter);
      };
      made.then((output) => then(succeeded(held, output)), (error: unknown) => then(failed(held, error)));
    } catch (error) {
      this.#end(held, failed(held, error), reporter);
    }
  }

  #end(held: Held, report: string, reporter: Reporter): void {
    if (this.#hand.finish(held)) return reporter.put(held, report);
    const { attempt, task } = held.context;
    this.#options.log(`attempt ${attempt} of ${task} is over elsewhere: its result is dropped`);
  }

  /** Gives back what never began, and waits for what did, until grace is over or somebody is impatient. */
  async #windUp(heart: Heart): Promise<void> {
    await heart.giveBack(this.#hand.idle(Infinity));
    const timer = setTimeout(() => this.#hurry.abort(), this.#options.grace);
    await this.#hand.until(0, this.#hurry.signal);
    clearTimeout(timer);
    const left = this.#hand.all().filter((held) => held.began);
    if (this.#hand.unfinished === 0) return;
    this.#options.log(`${this.#hand.unfinished} tasks are cut short: they will be tried again`);
    for (const held of left) held.context.interrupt();
    await this.#hand.until(0, AbortSignal.timeout(LAST_MS));
  }
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** Characters of an output that no server takes any more. */
const TOO_LARGE = 16 << 20;

/**
 * The report of a handler that returned. What has no JSON form fails for good: it would be the same again. One that was
 * told to stop and returns nothing has noticed it, and did not do its work.
 */
export function succeeded(held: Held, output: unknown): string {
  if ((output ?? undefined) === undefined && held.context.cancelled) return stopped(held);
  try {
    const report = JSON.stringify({ lease: held.lease, output: output ?? undefined });
    if (report.length <= TOO_LARGE) return report;
    const message = `the output has ${report.length} characters: more than ${TOO_LARGE} bytes are not kept`;
    return JSON.stringify({ lease: held.lease, error: { type: "output_too_large", message } });
  } catch (error) {
    const message = `the output has no JSON form: ${String(error)}`;
    return JSON.stringify({ lease: held.lease, error: { type: "bad_output", message, permanent: true } });
  }
}

/** The report of a handler that threw. */
export function failed(held: Held, thrown: unknown): string {
  if (held.context.cancelled) return stopped(held);
  return JSON.stringify({ lease: held.lease, error: wireFailure(thrown) });
}

/** The report of a handler that was told to stop: it did not fail, another attempt does its work. */
function stopped(held: Held): string {
  const error = { type: "worker_stopped", message: "the worker was told to stop before the task had ended" };
  return JSON.stringify({ lease: held.lease, error });
}
