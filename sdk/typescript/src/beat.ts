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
  #timer: NodeJS.Timeout;
  #last = performance.now();
  #heard = true;
  #busy = false;
  #stopped = false;

  constructor(client: Client, hand: Hand, lease: number, log: Log) {
    this.#client = client;
    this.#hand = hand;
    this.#log = log;
    this.#every = Math.min(lease / 3, 10_000);
    this.#timer = setTimeout(() => void this.#look(), this.#pause().tick);
    hand.hurry = () => {
      if (!this.#busy) this.#later();
    };
  }

  /** No more heartbeats. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** How often to speak, and how soon again if nobody heard: two more fit into the lease. */
  #pause(): { every: number; tick: number } {
    // A flow may have its tasks say more often that they are at work than the worker would.
    const every = Math.min(this.#every, this.#hand.shortest / 3);
    return { every, tick: Math.min(every, IDLE_MS / 2) };
  }

  #later(): void {
    clearTimeout(this.#timer);
    if (!this.#stopped) this.#timer = setTimeout(() => void this.#look(), this.#pause().tick);
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
    this.#busy = true;
    const { every, tick } = this.#pause();
    if (performance.now() >= this.#last + (this.#heard ? every : tick)) {
      this.#last = performance.now();
      this.#heard = await this.#beat();
    }
    const idle = this.#hand.idle(performance.now() - IDLE_MS);
    if (idle.length > 0) await this.giveBack(idle);
    this.#busy = false;
    this.#later();
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
