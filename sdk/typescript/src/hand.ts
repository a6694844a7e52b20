/** The leases a worker has in hand, from the claim to the report, and what a handler sees of one. */

import { Cancelled } from "./errors.js";

/** No lease is kept up more often than one of so many milliseconds. */
const SHORTEST_MS = 50;

/** A lease as the server gives it. */
export interface WireLease {
  lease: string;
  lease_ms?: number;
  run: string;
  task: string;
  attempt: number;
  max_attempts: number;
  key: string;
  action: string;
  input: unknown;
  traceparent?: string;
}

/** One attempt of a task, as its handler sees it. */
export class Context {
  /** What the task is given. */
  readonly input: any;
  /** What is to be done. */
  readonly action: string;
  /** The id of the run. */
  readonly run: string;
  /** The path of the task. */
  readonly task: string;
  /** Which attempt, from 1. */
  readonly attempt: number;
  /** How many there may be. */
  readonly maxAttempts: number;
  /** The same for every attempt of the task: to be used where an effect must happen once. */
  readonly key: string;
  /** What joins the handler's spans to those of whoever started the run (W3C Trace Context), if they said. */
  readonly traceparent: string | undefined;
  #controller: AbortController | undefined;
  #over: Cancelled | undefined;

  constructor(told: WireLease) {
    this.input = told.input;
    this.action = told.action;
    this.run = told.run;
    this.task = told.task;
    this.attempt = told.attempt;
    this.maxAttempts = told.max_attempts;
    this.key = told.key;
    this.traceparent = told.traceparent;
  }

  /** Given when the attempt is not this worker's any more: stop, what it makes is dropped. */
  get signal(): AbortSignal {
    // Most handlers never look: a controller for each task would cost more than a short task.
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#over !== undefined) this.#controller.abort(this.#over);
    }
    return this.#controller.signal;
  }

  /** Whether the attempt is not this worker's any more. */
  get cancelled(): boolean {
    return this.#over !== undefined;
  }

  /** Tells the handler to stop. */
  interrupt(): void {
    this.#over = new Cancelled(`attempt ${this.attempt} of ${this.task} of run ${this.run} is over`);
    this.#controller?.abort(this.#over);
  }
}

/** A lease in hand. */
export class Held {
  readonly lease: string;
  /** For how many milliseconds it is good without a heartbeat. */
  readonly span: number;
  readonly context: Context;
  readonly since = performance.now();
  began = false;
  /** Whether the server said that it is not this worker's any more: then nobody wants its result. */
  over = false;

  constructor(told: WireLease) {
    this.lease = told.lease;
    this.span = told.lease_ms ?? Infinity;
    this.context = new Context(told);
  }
}

/** All leases in hand. `unfinished` are those whose handlers have not ended; the rest wait to be reported. */
export class Hand {
  readonly #leases = new Map<string, Held>();
  #waiting: { most: number; go: () => void }[] = [];
  unfinished = 0;
  finished = 0;
  /** For how many milliseconds the shortest lease there ever was is good without a heartbeat. */
  shortest = Infinity;
  /** Called when there was a shorter one. */
  hurry: () => void = () => {};

  /** Takes leases. */
  take(told: readonly WireLease[]): Held[] {
    const held = told.map((lease) => new Held(lease));
    for (const one of held) this.#leases.set(one.lease, one);
    this.unfinished += held.length;
    const shortest = held.reduce((least, one) => Math.min(least, one.span), Infinity);
    if (shortest < this.shortest) {
      // Not again for every millisecond that another one took longer to come here.
      this.shortest = Math.max(shortest * 0.9, SHORTEST_MS);
      this.hurry();
    }
    return held;
  }

  /** Whether its work may begin; not if it was given back or is over. */
  begin(held: Held): boolean {
    if (held.began || !this.#leases.has(held.lease)) return false;
    held.began = true;
    return true;
  }

  /** Its handler has ended. Whether anybody wants to know how. */
  finish(held: Held): boolean {
    this.#finish();
    if (held.over) this.#leases.delete(held.lease);
    return !held.over;
  }

  /** It has been reported. */
  drop(held: Held): void {
    this.#leases.delete(held.lease);
  }

  /** Takes out those that were taken before this and have not begun, to be given back. */
  idle(before: number): Held[] {
    const idle = this.all().filter((held) => !held.began && held.since <= before);
    for (const held of idle) this.#putDown(held);
    return idle;
  }

  /** The server says that a lease is over: its handler is told. */
  over(lease: string): void {
    const held = this.#leases.get(lease);
    if (held === undefined || held.over) return;
    held.over = true;
    held.context.interrupt();
    if (!held.began) this.#putDown(held);
  }

  /** Everything in hand. */
  all(): Held[] {
    return [...this.#leases.values()];
  }

  /** Waits until so few are unfinished, or the signal is given. */
  until(most: number, signal: AbortSignal): Promise<void> {
    if (this.unfinished <= most || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const go = (): void => {
        signal.removeEventListener("abort", go);
        resolve();
      };
      this.#waiting.push({ most, go });
      signal.addEventListener("abort", go);
    });
  }

  #putDown(held: Held): void {
    this.#leases.delete(held.lease);
    this.#finish();
  }

  #finish(): void {
    this.unfinished -= 1;
    this.finished += 1;
    if (this.#waiting.length === 0) return;
    const ready = this.#waiting.filter((one) => this.unfinished <= one.most);
    if (ready.length === 0) return;
    this.#waiting = this.#waiting.filter((one) => this.unfinished > one.most);
    for (const one of ready) one.go();
  }
}
