/**
 * Claiming: as many leases as there is room for, in one request, before the hands are empty.
 *
 * A worker holds what it can begin at once, and as much again as it did in the last tenth of a second: quick tasks come
 * in large batches, slow ones are left to others.
 */

import { Backoff, pause } from "./backoff.js";
import { type Call, post } from "./calls.js";
import { type Client, POLL_MS } from "./client.js";
import { Conflict, ServerError, isPassing } from "./errors.js";
import type { Hand, WireLease } from "./hand.js";
import type { Log } from "./worker.js";

/** How far ahead a worker takes leases, in milliseconds of its work. */
const AHEAD_MS = 100;

/** What a worker wishes for, in every claim. */
export interface Wish {
  worker: string;
  actions: string[];
  queues: readonly string[] | undefined;
  lease_ms: number;
}

/** How many leases a worker takes: as many as can begin at once, and so many ahead at most. */
export interface Room {
  atOnce: number;
  ahead: number;
}

/** Claims, one after the other. */
export class Claimer {
  readonly #client: Client;
  readonly #hand: Hand;
  readonly #wish: Wish;
  readonly #room: Room;
  readonly #log: Log;
  #ahead = 0;
  /** When the last claim was answered, and what had been finished by then. */
  #answered = { at: performance.now(), finished: 0 };

  constructor(client: Client, hand: Hand, wish: Wish, room: Room, log: Log) {
    this.#client = client;
    this.#hand = hand;
    this.#wish = wish;
    this.#room = room;
    this.#log = log;
  }

  /** Leases as there is room for them, until the signal is given. What comes after that is to be given back. */
  async *leases(stop: AbortSignal): AsyncGenerator<WireLease[]> {
    while (!stop.aborted) {
      const room = await this.#wait(stop);
      if (!stop.aborted) yield await this.#claim(room, stop);
    }
  }

  /** Waits until there is room, and says for how many. */
  async #wait(stop: AbortSignal): Promise<number> {
    const { atOnce, ahead } = this.#room;
    await this.#hand.until(this.#ahead === 0 ? atOnce - 1 : atOnce + Math.floor(this.#ahead / 2), stop);
    const { at, finished } = this.#answered;
    const rate = (this.#hand.finished - finished) / Math.max(1, performance.now() - at);
    // Halved at most: a moment without work is no reason to begin from nothing.
    this.#ahead = Math.min(ahead, Math.max(Math.floor(rate * AHEAD_MS), Math.floor(this.#ahead / 2)));
    return Math.max(1, atOnce + this.#ahead - this.#hand.unfinished);
  }

  /** Claims until there is an answer. The same key makes a repetition the same claim. */
  async #claim(max: number, stop: AbortSignal): Promise<WireLease[]> {
    const call = post("/work/claim", { ...this.#wish, max, wait_ms: POLL_MS }, { wait: POLL_MS });
    const headers = this.#client.headers(call);
    const backoff = new Backoff();
    for (;;) {
      try {
        const { leases } = await this.#client.once(call, headers, stop);
        this.#answered = { at: performance.now(), finished: this.#hand.finished };
        return leases;
      } catch (error) {
        if (stop.aborted) return this.#lastLook(call, headers);
        if (!isPassing(error) && !(error instanceof ServerError)) throw error;
        this.#log(`a claim is repeated: ${String(error)}`);
        await pause(backoff.next() ?? 0, stop);
      }
    }
  }

  /**
   * What the claim that was broken off had been given, so that it can be given back.
   *
   * A claim under the same key that does not wait is refused only if the first one was answered: then that answer is
   * asked for again. If it was not, the server keeps what it would have given.
   */
  async #lastLook(call: Call, headers: Record<string, string>): Promise<WireLease[]> {
    const now = post("/work/claim", { ...this.#wish, max: 1, wait_ms: 0 });
    const answered = (error: unknown): Promise<any> => {
      if (error instanceof Conflict) return this.#client.ask(call, headers);
      throw error;
    };
    try {
      return (await this.#client.ask(now, headers).catch(answered)).leases;
    } catch (error) {
      this.#log(`a claim that was broken off may have leases that lapse: ${String(error)}`);
      return [];
    }
  }
}
