/** The client: starts runs, looks at them, waits for them, acts on them. */

import { randomUUID } from "node:crypto";
import { Backoff, pause } from "./backoff.js";
import { API, type Call, at, get, post, queue } from "./calls.js";
import { Problem, RunFailed, Unreachable, WaitOver, isPassing } from "./errors.js";
import { Flow } from "./flow.js";
import { type DomainEvent, Lines, type RunEvent, type StreamEvent } from "./stream.js";

const DEFAULT_ADDRESS = "http://127.0.0.1:7420";
/** One long poll: shorter than what anything between here and the server cuts off. */
export const POLL_MS = 20_000;
/** A silent event stream says every 15 seconds that it is still there. */
const SILENCE_MS = 45_000;

/** Where a server is, and who asks. */
export interface ClientOptions {
  /** The address; `EDGEWISE_ADDR` if absent, else this machine. */
  url?: string;
  /** The token; `EDGEWISE_TOKEN` if absent. */
  token?: string;
  /** Who asks, at a server of this machine. */
  who?: string;
  /** How long an answer may take, in milliseconds. */
  timeout?: number;
  /** For how long what cannot be answered now is asked again, in milliseconds from the first trouble. */
  patience?: number;
}

/** How a run is started. */
export interface StartOptions {
  /** The caller's own key: the same key gives the same run. */
  key?: string;
  /** For people to search by. */
  labels?: Record<string, string>;
  /** The name of the file that the text is from; its ending says which language it is. */
  file?: string;
}

/** What an act can say: which task is meant, and why. */
export interface ActOptions {
  task?: string;
  why?: string;
}

/** How a run ended. */
export class Ended {
  constructor(
    readonly run: string,
    /** `Complete` if it went well. */
    readonly state: string,
    /** What it made, if it went well. */
    readonly output: unknown,
  ) {}

  /** Whether it went well. */
  get ok(): boolean {
    return this.state === "Complete";
  }

  /** What it made; `RunFailed` if it did not go well. */
  result(): unknown {
    if (!this.ok) throw new RunFailed(this.run, this.state);
    return this.output;
  }
}

/** A server, as a caller sees it. */
export class Client {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #timeout: number;
  readonly #patience: number;

  constructor(options: ClientOptions | string = {}) {
    const given: ClientOptions = typeof options === "string" ? { url: options } : options;
    const { url, token, who, timeout, patience } = given;
    const address = url ?? process.env["EDGEWISE_ADDR"] ?? DEFAULT_ADDRESS;
    this.#url = (address.includes("://") ? address : `http://${address}`).replace(/\/+$/, "");
    if (!/^https?:\/\/./.test(this.#url) || !URL.canParse(this.#url)) {
      throw new Error(`expected the address of a server such as ${DEFAULT_ADDRESS}, found ${JSON.stringify(address)}`);
    }
    this.#headers = { accept: "application/json", "user-agent": "edgewise-typescript" };
    const secret = token ?? process.env["EDGEWISE_TOKEN"];
    if (secret !== undefined) this.#headers["authorization"] = `Bearer ${secret}`;
    if (who !== undefined) this.#headers["edgewise-as"] = who;
    this.#timeout = timeout ?? 30_000;
    this.#patience = patience ?? 10_000;
  }

  /** Performs a call, again as long as that can do no harm and patience lasts; for what has no method of its own. */
  async ask(call: Call, headers = this.headers(call)): Promise<any> {
    const backoff = new Backoff(this.#patience);
    for (;;) {
      try {
        return await this.once(call, headers);
      } catch (error) {
        if (!isPassing(error) || (error instanceof Unreachable && error.sent && !call.again)) throw error;
        const wait = backoff.next();
        if (wait === undefined) throw error;
        await pause(wait);
      }
    }
  }

  /** The headers of a call; a repetition has the same. */
  headers(call: Call): Record<string, string> {
    if (call.method === "GET") return this.#headers;
    return { ...this.plainHeaders(), "idempotency-key": randomUUID() };
  }

  /** The headers of a call with a body that is the same done twice, by what it says itself. */
  plainHeaders(): Record<string, string> {
    return { ...this.#headers, "content-type": "application/json" };
  }

  /** Performs a call once. */
  async once(call: Call, headers: Record<string, string>, signal?: AbortSignal): Promise<any> {
    signal?.throwIfAborted();
    const end = new AbortController();
    const abort = (): void => end.abort();
    const timer = setTimeout(abort, this.#timeout + call.wait);
    signal?.addEventListener("abort", abort);
    const init: RequestInit = { method: call.method, headers, signal: end.signal };
    if (call.body !== undefined) init.body = call.body;
    let status: number;
    let text: string;
    try {
      const response = await fetch(this.#url + call.path, init);
      status = response.status;
      text = await response.text();
    } catch (error) {
      throw this.#unreachable(error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
    const told = decoded(text);
    if (status >= 400) throw Problem.of(status, told);
    return told;
  }

  #unreachable(error: unknown): Unreachable {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = (cause as { code?: unknown }).code;
    const sent = !["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"].includes(String(code));
    return new Unreachable(`${this.#url} gave no answer: ${String(cause)}`, sent, { cause: error });
  }

  /**
   * Starts a run: of a flow that was built, of a flow's text, or of a registered flow by its name.
   *
   * Without a `key`, a start whose answer was lost throws `Unreachable` with `sent`: it may have begun.
   */
  async start(flow: Flow | string, input?: Record<string, unknown>, options: StartOptions = {}): Promise<Run> {
    const { key, labels, file } = options;
    const text = flow instanceof Flow ? flow.text() : file !== undefined || flow.includes("\n") ? flow : undefined;
    const what = text === undefined ? { flow } : { source: text, file };
    const told = await this.ask(post("/runs", { ...what, input, key, labels }, { again: key !== undefined }));
    return new Run(this, told.run, told.new);
  }

  /** A run by its id, or by the beginning of it. */
  run(id: string): Run {
    return new Run(this, id, false);
  }

  /** Waits until a run has ended; `WaitOver` if it has not within so many milliseconds. */
  async wait(run: string, timeout = Infinity): Promise<Ended> {
    const until = performance.now() + timeout;
    for (;;) {
      const left = Math.round(Math.min(POLL_MS, Math.max(0, until - performance.now())));
      const end = await this.#end(run, left);
      if (end !== undefined) return end;
      if (performance.now() >= until) throw new WaitOver(`run ${run} has not ended within ${timeout} ms`);
    }
  }

  async #end(run: string, wait: number): Promise<Ended | undefined> {
    const told = await this.ask(get(at(run, "/end"), { wait_ms: wait }, wait));
    return told.state === undefined || told.state === null ? undefined : new Ended(told.run, told.state, told.output);
  }

  /** A run with all its tasks, in the form of `edgewise show --json`. */
  show(run: string): Promise<any> {
    return this.ask(get(at(run)));
  }

  /** Why a run does not go on, in the form of `edgewise why --json`. */
  why(run: string): Promise<any> {
    return this.ask(get(at(run, "/why")));
  }

  /** Runs, the newest first, page after page; `search` as in `state:failed flow:x label.team=web`. */
  async *runs(search?: string, options: { all?: boolean; page?: number } = {}): AsyncGenerator<any> {
    let after: string | undefined;
    do {
      const all = options.all === true ? "true" : undefined;
      const told = await this.ask(get("/runs", { q: search, all, after, limit: options.page }));
      yield* told.runs;
      after = told.next ?? undefined;
    } while (after !== undefined);
  }

  /** The flows that are registered. */
  async flows(): Promise<any[]> {
    const all: any[] = [];
    let after: string | undefined;
    do {
      const told = await this.ask(get("/flows", { after }));
      all.push(...told.flows);
      after = told.next ?? undefined;
    } while (after !== undefined);
    return all;
  }

  /** Puts the flows of a text under their names, with their schedules; what each of them came to. */
  async register(flow: Flow | string, options: { file?: string } = {}): Promise<any[]> {
    const source = flow instanceof Flow ? flow.text() : flow;
    return (await this.ask(post("/flows", { source, file: options.file }))).flows;
  }

  /** The queues of domain events, and who reads them. */
  async namespaces(): Promise<any[]> {
    return (await this.ask(get("/domain"))).namespaces;
  }

  /** The events in a queue, in order: those that a consumer has not acknowledged, or those behind a place. */
  async *domain(
    namespace: string,
    options: { consumer?: string; after?: number; page?: number } = {},
  ): AsyncGenerator<DomainEvent> {
    let { consumer, after } = options;
    do {
      const told = await this.ask(get(queue(namespace), { consumer, after, limit: options.page }));
      yield* told.events;
      // A page behind the first goes on by its place: what was read is not acknowledged.
      [after, consumer] = [told.next ?? undefined, undefined];
    } while (after !== undefined);
  }

  /** A consumer has dealt with everything up to a place. Where it is then. */
  async acknowledge(namespace: string, consumer: string, place: number): Promise<number> {
    return (await this.ask(post(queue(namespace, "/ack"), { consumer, place }))).place;
  }

  /** A consumer is gone: nothing is kept for it any more. */
  async forget(namespace: string, consumer: string): Promise<void> {
    // Asked again it is not found any more.
    await this.ask(post(queue(namespace, "/forget"), { consumer }, { again: false }));
  }

  /** Domain events as they happen, without an end; behind a place, else from now on. Fast ones have no place. */
  async *domainEvents(namespace: string, after?: number): AsyncGenerator<DomainEvent> {
    const last = after === undefined ? undefined : String(after);
    for await (const { id, data } of this.#follow(get(queue(namespace, "/events")).path, last)) {
      yield { place: id === undefined ? undefined : Number(id), event: data };
    }
  }

  /** The events of the whole workspace, without an end; behind one by its `id`, else from now on, `"0"` is the first. */
  workspaceEvents(
    options: { after?: string; types?: readonly string[]; run?: string } = {},
  ): AsyncGenerator<StreamEvent> {
    const { after, types, run } = options;
    return this.#follow(get("/events", { type: types?.join(","), run }).path, after);
  }

  /** A stream that has no end. Cut off, it goes on behind the last event that had an id. */
  async *#follow(path: string, last: string | undefined): AsyncGenerator<StreamEvent> {
    const backoff = new Backoff(this.#patience);
    for (;;) {
      let trouble: unknown = new Unreachable(`${this.#url} ended a stream that has no end`, true);
      try {
        for await (const event of this.#stream(path, last, backoff)) {
          last = event.id ?? last;
          yield event;
        }
      } catch (error) {
        if (!isPassing(error)) throw error;
        trouble = error;
      }
      const wait = backoff.next();
      if (wait === undefined) throw trouble;
      await pause(wait);
    }
  }

  /** The events of a run as they are committed, until it ends. Cut off, it goes on behind the last one. */
  async *events(run: string, after = 0): AsyncGenerator<RunEvent> {
    const backoff = new Backoff(this.#patience);
    let over = false;
    for (;;) {
      let trouble: unknown;
      try {
        const before = after;
        for await (const event of this.#stream(API + at(run, "/events"), String(after), backoff)) {
          after = Number(event.id);
          yield { ...event, seq: after };
        }
        if (over && after === before) return;
        // A stream also ends when its server does: the rest of a run that has ended comes with the next one.
        over = (await this.#end(run, 0)) !== undefined;
        if (over) continue;
        trouble = new Unreachable(`the events of run ${run} ended before it did`, true);
      } catch (error) {
        if (!isPassing(error)) throw error;
        trouble = error;
      }
      const wait = backoff.next();
      if (wait === undefined) throw trouble;
      await pause(wait);
    }
  }

  async *#stream(path: string, last: string | undefined, backoff: Backoff): AsyncGenerator<StreamEvent> {
    const silence = new AbortController();
    let alarm = setTimeout(() => silence.abort(), SILENCE_MS);
    const headers: Record<string, string> = { ...this.#headers, accept: "text/event-stream" };
    if (last) headers["last-event-id"] = last;
    const lines = new Lines();
    try {
      const response = await fetch(this.#url + path, { headers, signal: silence.signal });
      if (response.status >= 400) throw Problem.of(response.status, decoded(await response.text()));
      backoff.answered();
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) {
        backoff.reset();
        clearTimeout(alarm);
        alarm = setTimeout(() => silence.abort(), SILENCE_MS);
        yield* lines.feed(decoder.decode(chunk, { stream: true }));
      }
    } catch (error) {
      throw error instanceof Problem ? error : this.#unreachable(error);
    } finally {
      clearTimeout(alarm);
      silence.abort();
    }
  }

  /** Nothing of the run, or of one task, may start any more. True if that is new. */
  cancel(run: string, options: ActOptions = {}): Promise<boolean> {
    return this.#act("cancel", run, options);
  }

  /** No new leases for now. */
  pause(run: string, options: ActOptions = {}): Promise<boolean> {
    return this.#act("pause", run, options);
  }

  /** Leases again. */
  resume(run: string, options: ActOptions = {}): Promise<boolean> {
    return this.#act("resume", run, options);
  }

  /** Gives a failed task new attempts. */
  reset(run: string, task: string, options: ActOptions = {}): Promise<boolean> {
    return this.#act("reset", run, { ...options, task }, false);
  }

  /** Leaves a task out. */
  skip(run: string, task: string, options: ActOptions = {}): Promise<boolean> {
    return this.#act("skip", run, { ...options, task });
  }

  /** Declares a run, or one task, dealt with. */
  resolve(run: string, options: ActOptions = {}): Promise<boolean> {
    return this.#act("resolve", run, options);
  }

  /** Lets the failures stand that a run holds. */
  giveUp(run: string, options: ActOptions = {}): Promise<boolean> {
    return this.#act("give-up", run, options);
  }

  /** Lets nothing but reads work on a run. */
  freeze(run: string, options: ActOptions = {}): Promise<boolean> {
    return this.#act("freeze", run, options);
  }

  /** Lets a frozen run go on. */
  unfreeze(run: string, options: ActOptions = {}): Promise<boolean> {
    return this.#act("unfreeze", run, options);
  }

  async #act(verb: string, run: string, options: ActOptions, again = true): Promise<boolean> {
    return !(await this.ask(post(at(run, `/${verb}`), options, { again }))).already;
  }

  /** Has finished work done again: all of it, what failed, or from one task on. How many tasks were opened. */
  async rerun(run: string, options: ActOptions & { failed?: boolean } = {}): Promise<number> {
    return (await this.ask(post(at(run, "/rerun"), options, { again: false }))).reopened ?? 0;
  }

  /** Supplies a task's output in place of its own. */
  async supply(run: string, task: string, output: unknown, why?: string): Promise<void> {
    await this.ask(post(at(run, "/complete"), { task, output, why }, { again: false }));
  }

  /** Says yes to a gate. */
  approve(run: string, gate: string, comment?: string): Promise<boolean> {
    return this.#speak("approve", run, gate, comment);
  }

  /** Takes a yes back. */
  withdraw(run: string, gate: string, comment?: string): Promise<boolean> {
    return this.#speak("withdraw", run, gate, comment);
  }

  /** Says no to a gate. */
  reject(run: string, gate: string, comment?: string): Promise<boolean> {
    return this.#speak("reject", run, gate, comment);
  }

  /** What a webhook or external gate waits for is so; `output` becomes the gate's. */
  async satisfy(run: string, gate: string, output?: unknown, comment?: string): Promise<boolean> {
    return !(await this.ask(post(at(run, "/satisfy"), { task: gate, output, comment }))).already;
  }

  async #speak(verb: string, run: string, task: string, comment: string | undefined): Promise<boolean> {
    return !(await this.ask(post(at(run, `/${verb}`), { task, comment }))).already;
  }
}

/** One run, with the client that knows where it is. */
export class Run {
  constructor(
    readonly client: Client,
    readonly id: string,
    /** False if the same key had started it before. */
    readonly isNew: boolean,
  ) {}

  /** Waits until it has ended. */
  wait(timeout?: number): Promise<Ended> {
    return this.client.wait(this.id, timeout);
  }

  /** Waits for what it makes; `RunFailed` if it does not go well. */
  async result(timeout?: number): Promise<any> {
    return (await this.wait(timeout)).result();
  }

  /** The run with all its tasks. */
  show(): Promise<any> {
    return this.client.show(this.id);
  }

  /** Its events as they are committed. */
  events(after?: number): AsyncGenerator<RunEvent> {
    return this.client.events(this.id, after);
  }

  /** Nothing of it, or of one task, may start any more. */
  cancel(options?: ActOptions): Promise<boolean> {
    return this.client.cancel(this.id, options);
  }

  /** Says yes to a gate. */
  approve(gate: string, comment?: string): Promise<boolean> {
    return this.client.approve(this.id, gate, comment);
  }

  /** Says no to a gate. */
  reject(gate: string, comment?: string): Promise<boolean> {
    return this.client.reject(this.id, gate, comment);
  }

  /** What a webhook or external gate waits for is so. */
  satisfy(gate: string, output?: unknown, comment?: string): Promise<boolean> {
    return this.client.satisfy(this.id, gate, output, comment);
  }
}

function decoded(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
