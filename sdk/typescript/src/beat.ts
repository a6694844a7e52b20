/**
 * Heartbeats: leases in hand are kept, handlers of those that are over are told, and what nobody begins is given back.
 */

import { post } from "./calls.js";
import type { Client } from "./client.js";
import type { Hand, Held } from "./hand.js";
import type { Log } from "./worker.js";

/** Most leases of one heartbeat. */
const BATCH = 5_000;
/** A lease that could not begin for so long is for somebody else. */
const IDLE_MS = 2_000;

interface Beat {
  lease: string;
  continue: boolean;
}

/** Keeps leases. */
export class Heart {
  readonly #client: Client;
  readonly #hand: Hand;
  readonly #log: Log;
  readonly #every: number;
  readonly #tick: number;
  readonly #timer: NodeJS.Timeout;
  #next: number;
  #busy = false;

  constructor(client: Client, hand: Hand, lease: number, log: Log) {
    this.#client = client;
    this.#hand = hand;
    this.#log = log;
    this.#every = Math.min(lease / 3, 10_000);
    this.#tick = Math.min(this.#every, IDLE_MS / 2);
    this.#next = performance.now() + this.#every;
    this.#timer = setInterval(() => void this.#look(), this.#tick);
  }

  /** No more heartbeats. */
  stop(): void {
    clearInterval(this.#timer);
  }

  /** Leases whose work never began: their attempts are not spent. */
  async giveBack(leases: readonly Held[]): Promise<void> {
    for (const batch of batches(leases)) {
      try {
        await this.#client.ask(post("/work/release", { leases: batch }));
      } catch (error) {
        this.#log(`leases lapse that could not be given back: ${String(error)}`);
      }
    }
  }

  async #look(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    const idle = this.#hand.idle(performance.now() - IDLE_MS);
    if (idle.length > 0) await this.giveBack(idle);
    // A heartbeat that found nobody is repeated soon: two more fit into the lease.
    if (performance.now() >= this.#next) {
      const heard = await this.#beat();
      this.#next = performance.now() + (heard ? this.#every : this.#tick);
    }
    this.#busy = false;
  }

  async #beat(): Promise<boolean> {
    for (const leases of batches(this.#hand.all())) {
      try {
        const told = await this.#client.once(post("/work/heartbeat", { leases }), this.#client.plainHeaders());
        for (const beat of told.beats as Beat[]) if (!beat.continue) this.#hand.over(beat.lease);
      } catch (error) {
        this.#log(`a heartbeat was not heard: ${String(error)}`);
        return false;
      }
    }
    return true;
  }
}

function* batches(leases: readonly Held[]): Generator<string[]> {
  for (let at = 0; at < leases.length; at += BATCH) yield leases.slice(at, at + BATCH).map((held) => held.lease);
}
