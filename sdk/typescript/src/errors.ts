/**
 * What can go wrong, as types. A type exists only where a caller would act differently.
 *
 *     EdgewiseError
 *       Unreachable        nobody answered
 *       RunFailed          a run that was waited for ended another way than well
 *       WaitOver           a run that was waited for has not ended in time
 *       Problem            the server refused; `code` is stable, `detail` says what to do next
 *         Invalid, Unauthorized, Forbidden, NotFound, Conflict, TooLarge, TooMany, Unavailable, ServerError
 *     TaskFailure          what a handler throws to say how its attempt failed
 *       Retryable            another attempt may help
 *       Permanent            none can
 *     Cancelled            the attempt is not the worker's any more; the reason of its signal
 */

class Named extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Everything that the client throws by itself. */
export class EdgewiseError extends Named {}

/** Nobody answered. */
export class Unreachable extends EdgewiseError {
  /** Whether the request may have arrived: then it is not known whether it took effect. */
  readonly sent: boolean;

  constructor(message: string, sent: boolean, options?: ErrorOptions) {
    super(message, options);
    this.sent = sent;
  }
}

/** A run ended another way than well. */
export class RunFailed extends EdgewiseError {
  constructor(
    readonly run: string,
    readonly state: string,
  ) {
    super(`run ${run} ended as ${state}; \`edgewise why ${run}\` tells more`);
  }
}

/** A run has not ended in time. */
export class WaitOver extends EdgewiseError {}

/** The server refused, in the form of RFC 9457. */
export class Problem extends EdgewiseError {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
  ) {
    super(`${detail} (${code}, status ${status})`);
  }

  /** The problem of an answer; whatever stands between here and the server may answer with another form. */
  static of(status: number, body: unknown): Problem {
    const told = (typeof body === "object" && body !== null ? body : {}) as { code?: unknown; detail?: unknown };
    const kind = BY_STATUS.get(status) ?? (status >= 500 ? ServerError : Invalid);
    const detail = told.detail === undefined ? `the server answered with status ${status}` : String(told.detail);
    return new kind(status, told.code === undefined ? `http_${status}` : String(told.code), detail);
  }
}

/** The request cannot succeed as it is. */
export class Invalid extends Problem {}
/** The token is missing or not good. */
export class Unauthorized extends Problem {}
/** The token's owner is not trusted with this. */
export class Forbidden extends Problem {}
/** What is named does not exist. */
export class NotFound extends Problem {}
/** The state forbids it. */
export class Conflict extends Problem {}
/** A limit would be crossed. */
export class TooLarge extends Problem {}
/** Too many requests at once. */
export class TooMany extends Problem {}
/** Not now. */
export class Unavailable extends Problem {}
/** The server broke a rule of its own. */
export class ServerError extends Problem {}

const BY_STATUS = new Map<number, typeof Problem>([
  [401, Unauthorized],
  [403, Forbidden],
  [404, NotFound],
  [409, Conflict],
  [413, TooLarge],
  [429, TooMany],
  [503, Unavailable],
]);

/** Whether asking again later may help. */
export function isPassing(error: unknown): boolean {
  return error instanceof Unreachable || error instanceof Unavailable || error instanceof TooMany;
}

/** How an attempt failed. */
export interface FailureOptions {
  /** What a flow's `retry` and handlers name; the class's name if absent. */
  type?: string;
  /** Wider types that it also is. */
  also?: readonly string[];
}

/** What a handler throws to say how its attempt failed. */
export class TaskFailure extends Named {
  readonly type: string | undefined;
  readonly also: readonly string[];

  constructor(message: string, options: FailureOptions = {}) {
    super(message);
    this.type = options.type;
    this.also = options.also ?? [];
  }
}

/** Another attempt may help, `after` so many milliseconds at the earliest. */
export class Retryable extends TaskFailure {
  readonly after: number | undefined;

  constructor(message: string, options: FailureOptions & { after?: number } = {}) {
    super(message, options);
    this.after = options.after;
  }
}

/** No further attempt can help. */
export class Permanent extends TaskFailure {}

/** The attempt is over for this worker: cancelled, timed out, or somebody else's. What it makes is dropped. */
export class Cancelled extends Named {}

/** A failure as it is reported. */
export interface WireFailure {
  type: string;
  message: string;
  permanent?: boolean;
  retry_after_ms?: number;
  is?: string[];
}

/** Longer messages are cut: the ledger keeps them for ever. */
const MESSAGE_CHARACTERS = 2_000;

/** A failure as it is reported. Its wider types are the classes that it extends. */
export function wireFailure(thrown: unknown): WireFailure {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const told: WireFailure = { type: error.name, message: readable(error.message.slice(0, MESSAGE_CHARACTERS)) };
  const wider = widerTypes(error);
  if (error instanceof TaskFailure) {
    wider.unshift(...error.also);
    told.type = error.type ?? told.type;
    if (error instanceof Permanent) told.permanent = true;
    const after = error instanceof Retryable ? error.after : undefined;
    if (after !== undefined) told.retry_after_ms = Math.max(0, Math.round(after));
  }
  if (wider.length > 0) told.is = wider;
  return told;
}

/** A text that every server reads: half of a pair of code units is no character. */
function readable(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "?");
}

const PLAIN: readonly unknown[] = [Error, Named, TaskFailure, Retryable, Permanent];

function widerTypes(error: Error): string[] {
  const names: string[] = [];
  let kind: unknown = Object.getPrototypeOf(error.constructor);
  while (typeof kind === "function" && kind !== Error && kind !== Function.prototype) {
    if (!PLAIN.includes(kind)) names.push(kind.name);
    kind = Object.getPrototypeOf(kind);
  }
  return names;
}
