/**
 * Reporting: what has ended goes to the server in batches, and again until it answers. Nothing waits for a full batch.
 */

import { Backoff, pause } from "./backoff.js";
import { type Call, post } from "./calls.js";
import type { Client } from "./client.js";
import { Forbidden, Problem, Unauthorized, isPassing } from "./errors.js";
import type { Hand, Held } from "./hand.js";
import type { Log } from "./worker.js";

/** Most results of one report, and how many characters they have together. */
const BATCH = 2_000;
const BATCH_CHARACTERS = 4 << 20;
/** The type of a failure in place of one that the server could not read. */
const UNREADABLE = "bad_failure";

interface Result {
  held: Held;
  report: string;
}

interface Outcome {
  status: number;
  detail?: string;
}

/** Sends results, one batch at a time. */
export class Reporter {
  readonly #client: Client;
  readonly #hand: Hand;
  readonly #log: Log;
  readonly #hurry = new AbortController();
  #results: Result[] = [];
  #sending: Promise<void> | undefined;

  constructor(client: Client, hand: Hand, log: Log) {
    this.#client = client;
    this.#hand = hand;
    this.#log = log;
  }

  /** Takes a result. */
  put(held: Held, report: string): void {
    this.#results.push({ held, report });
    // After what ends at this very moment: then they go together.
    this.#sending ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.#send());
  }

  /** Reports what is left. What the server could not be told in time will lapse. */
  async close(patience: number): Promise<void> {
    const timer = setTimeout(() => this.#hurry.abort(), patience);
    while (this.#sending !== undefined) await this.#sending;
    clearTimeout(timer);
  }

  async #send(): Promise<void> {
    while (this.#results.length > 0) {
      const batch = this.#batch();
      await this.#deliver(batch);
      for (const { held } of batch) this.#hand.drop(held);
    }
    this.#sending = undefined;
  }

  #batch(): Result[] {
    const most = Math.min(this.#results.length, BATCH);
    let [count, characters] = [0, 0];
    while (count < most && characters < BATCH_CHARACTERS) {
      characters += this.#results[count]?.report.length ?? 0;
      count += 1;
    }
    const batch = this.#results.slice(0, count);
    this.#results = this.#results.slice(count);
    return batch;
  }

  /** Sends until there is an answer. The same report again is answered as the first time. */
  async #deliver(batch: Result[]): Promise<void> {
    const body = `{"results":[${batch.map((one) => one.report).join(",")}]}`;
    const call: Call = { ...post("/work/complete", {}), body };
    const backoff = new Backoff();
    while (!this.#hurry.signal.aborted) {
      try {
        this.#heard((await this.#client.once(call, this.#client.plainHeaders(), this.#hurry.signal)).results);
        return;
      } catch (error) {
        if (error instanceof Unauthorized || error instanceof Forbidden) {
          return this.#log(`results are dropped: ${error.message}`);
        }
        if (error instanceof Problem && !isPassing(error) && error.status < 500) return this.#refused(batch, error);
        this.#log(`a report is repeated: ${String(error)}`);
        await pause(backoff.next() ?? 0, this.#hurry.signal);
      }
    }
  }

  #heard(results: readonly Outcome[]): void {
    for (const { status, detail } of results) {
      if (status === 409) this.#log(`a result came too late and is dropped: ${detail}`);
      else if (status !== 200) this.#log(`a result was refused: ${detail}`);
    }
  }

  /** One of them cannot be read: each is sent alone, and the one at fault becomes a failure that says so. */
  async #refused(batch: Result[], problem: Problem): Promise<void> {
    const [first] = batch;
    if (first === undefined || batch.length > 1) {
      for (const result of batch) await this.#deliver([result]);
      return;
    }
    const told = (JSON.parse(first.report) as { error?: { type: string } }).error;
    if (told?.type === UNREADABLE) return this.#log(`a report was refused: ${problem.message}`);
    this.#log(`a report was refused, and is sent as a failure that says so: ${problem.message}`);
    const kind = told === undefined ? { type: "bad_output", permanent: true } : { type: UNREADABLE };
    const error = { ...kind, message: problem.detail };
    await this.#deliver([{ held: first.held, report: JSON.stringify({ lease: first.held.lease, error }) }]);
  }
}
