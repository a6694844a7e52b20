/**
 * A worker that is called: the server sends each lease as a signed request, and the answer is the report.
 *
 * `verify` is for whoever has a web framework already: refuse what it throws on, do the task, answer with its result.
 * `PushWorker` does all of it; `handle` is what servers take that speak `Request` and `Response`.
 */

import { EdgewiseError } from "./errors.js";
import { Held, type WireLease } from "./hand.js";
import { type Handler, failed, succeeded } from "./worker.js";

/** How old, or how far ahead, a signature may be, in milliseconds: an older one may be a replay. */
export const TOLERANCE_MS = 300_000;

/** Headers, by their names in any letters. */
export type SignedHeaders = Headers | Record<string, string | string[] | undefined>;

/** A request is not from the server that knows the secret, or is an old one sent again. */
export class NotSigned extends EdgewiseError {}

/** What is answered to a call. */
export interface PushReply {
  status: number;
  body: string;
}

/**
 * Checks a request as Standard Webhooks says, and gives its `webhook-id`, which names the dispatch: the same id again
 * is the same request sent again. While a secret is changed, several may be given.
 */
export async function verify(
  secret: string | readonly string[],
  headers: SignedHeaders,
  body: string,
  now: number = Date.now(),
): Promise<string> {
  const [id, stamp, signatures] = ["id", "timestamp", "signature"].map((part) => header(headers, `webhook-${part}`));
  if (id === undefined || signatures === undefined || !/^\d{1,12}$/.test(stamp ?? "")) {
    throw new NotSigned("webhook-id, webhook-timestamp and webhook-signature are expected");
  }
  const apart = Math.abs(now - Number(stamp) * 1_000);
  if (apart > TOLERANCE_MS) {
    throw new NotSigned(`the request was signed ${apart} ms ago, at most ${TOLERANCE_MS} ms are accepted`);
  }
  const text = new TextEncoder().encode(`${id}.${stamp}.${body}`);
  const given = signatures.split(" ").filter((one) => one.startsWith("v1,"));
  const found = given.map((one) => bytes(one.slice("v1,".length))).filter((one) => one !== undefined);
  for (const one of typeof secret === "string" ? [secret] : secret) {
    const raw = bytes(one.replace(/^whsec_/, ""));
    if (raw === undefined) throw new TypeError("a secret is `whsec_` and base64, as `edgewise worker add` printed it");
    const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    // Compared in constant time.
    const fits = await Promise.all(found.map((tag) => crypto.subtle.verify("HMAC", key, tag, text)));
    if (fits.includes(true)) return id;
  }
  throw new NotSigned("no signature of the request fits the secret: check the secret of the push worker");
}

function header(headers: SignedHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === "string" ? found : undefined;
}

function bytes(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Handlers for tasks that the server brings. A request that was seen already is not performed again. */
export class PushWorker {
  readonly #secrets: readonly string[];
  readonly #handlers = new Map<string, Handler>();
  readonly #seen = new Map<string, number>();

  constructor(secret: string | readonly string[]) {
    this.#secrets = typeof secret === "string" ? [secret] : secret;
  }

  /** Names the function that performs an action. */
  task(action: string, handler: Handler): this {
    this.#handlers.set(action, handler);
    return this;
  }

  /** Does what a request asks for. `signal` tells that the server has hung up: the attempt is over. */
  async answer(headers: SignedHeaders, body: string, signal?: AbortSignal): Promise<PushReply> {
    try {
      if (this.#isReplay(await verify(this.#secrets, headers, body))) {
        return { status: 409, body: JSON.stringify({ detail: "this request was seen already" }) };
      }
    } catch (error) {
      if (!(error instanceof NotSigned)) throw error;
      return { status: 401, body: JSON.stringify({ detail: error.message }) };
    }
    return { status: 200, body: await this.#perform(new Held(JSON.parse(body) as WireLease), signal) };
  }

  /** The same for servers that speak `Request` and `Response`. */
  async handle(request: Request): Promise<Response> {
    const { status, body } = await this.answer(request.headers, await request.text(), request.signal);
    return new Response(body, { status, headers: { "content-type": "application/json" } });
  }

  async #perform(held: Held, signal?: AbortSignal): Promise<string> {
    const handler = this.#handlers.get(held.context.action);
    if (handler === undefined) {
      const message = `nobody here does ${held.context.action}`;
      return JSON.stringify({ lease: held.lease, error: { type: "unknown_action", message, permanent: true } });
    }
    signal?.addEventListener("abort", () => held.context.interrupt(), { once: true });
    try {
      return succeeded(held, await handler(held.context));
    } catch (error) {
      return failed(held, error);
    }
  }

  /** Whether a request came before; those whose signature is too old by now need not be remembered. */
  #isReplay(id: string): boolean {
    const now = performance.now();
    for (const [known, at] of this.#seen) if (now - at > 2 * TOLERANCE_MS) this.#seen.delete(known);
    const replay = this.#seen.has(id);
    if (!replay) this.#seen.set(id, now);
    return replay;
  }
}
