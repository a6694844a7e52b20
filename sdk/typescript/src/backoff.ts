/** How long to wait before asking again: longer each time, by chance, and not for ever if somebody waits. */

const FIRST_MS = 50;
const MOST_MS = 2_000;

/** The pauses of one request, or of one loop that goes on until it is stopped (no patience given). */
export class Backoff {
  readonly #patience: number | undefined;
  /** When patience is over; none while all is well: it begins with the first trouble, however long all was well. */
  #until: number | undefined;
  #pause = FIRST_MS;

  constructor(patience?: number) {
    this.#patience = patience;
  }

  /** The next pause in milliseconds; none if patience is over. */
  next(): number | undefined {
    if (this.#patience !== undefined) {
      const now = performance.now();
      this.#until ??= now + this.#patience;
      if (now >= this.#until) return undefined;
    }
    const pause = this.#pause * (0.5 + Math.random() / 2);
    this.#pause = Math.min(this.#pause * 2, MOST_MS);
    return pause;
  }

  /** Somebody is there: the next trouble is a new one. Until something comes of it, pauses grow on. */
  answered(): void {
    this.#until = undefined;
  }

  /** It worked. */
  reset(): void {
    this.#until = undefined;
    this.#pause = FIRST_MS;
  }
}

/** Waits, or until the signal is given. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", end);
  });
}
