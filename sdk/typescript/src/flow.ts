/**
 * The flow builder: a flow written as TypeScript, printed as the text that `edgewise check` reads.
 *
 *     const f = flow("release", { retry: { attempts: 3, base: "2s" }, timeout: "10m" });
 *     const version = f.input("version", { type: "string" });
 *     const plan = f.task("plan", call("ci.plan", { version }));
 *     const build = f.task("build", call("ci.build", { target: item.at("name") }), { each: plan.at("targets") });
 *     f.output({ built: build });
 *
 * What a task is given names what it waits for: a reference to another task's output is an edge. JSON is YAML, so the
 * text is JSON.
 */

/** A time span: milliseconds, or text as in a flow, such as `10m`. */
export type Span = string | number;

/** A reference to a value that is known when the run is there. In a text it stands as `${{ … }}`. */
export class Ref {
  /** @param text The expression itself, to be used in others. */
  constructor(readonly text: string) {}

  /** What it holds under a key, or at a place. */
  at(key: string | number): Ref {
    const word = typeof key === "string" && /^[A-Za-z_][A-Za-z0-9_]*$/.test(key);
    return new Ref(word ? `${this.text}.${key}` : `${this.text}[${JSON.stringify(key)}]`);
  }

  toString(): string {
    return `\${{ ${this.text} }}`;
  }

  toJSON(): string {
    return this.toString();
  }
}

/** The item of a spread (`each`). */
export const item = new Ref("item");

/** Any expression, as in ``expr(`size(${plan.output.text}) > 2`)``. */
export function expr(text: string): Ref {
  return new Ref(text);
}

/** A text in which `${{` is nothing but text. */
export function literal(text: string): string {
  return text.replaceAll("${{", '${{ "$" }}{{');
}

/** How often a task is tried, and how long is waited in between. */
export interface Retry {
  attempts: number;
  base?: Span;
  kind?: "fixed" | "linear" | "exponential";
  factor?: number;
  cap?: Span;
  jitter?: number;
  /** Types of failures that are not tried again. */
  never?: readonly string[];
}

/** How long an attempt, the task as a whole, and the wait for a worker may take. */
export interface Timeout {
  attempt?: Span;
  overall?: Span;
  queue?: Span;
  /** Between two heartbeats of its worker. */
  heartbeat?: Span;
}

/** A domain event: what the outside world is told when a task, or the whole run, ends in a way. */
export interface Publish {
  name: string;
  /** `success` unless said otherwise. */
  condition?: "success" | "failure" | "retryable_failure" | "permanent_failure" | "always";
  delivery?: Delivery;
  /** What is told; the output unless said otherwise. */
  payload?: unknown;
}

/** How a domain event travels; `durable` unless said otherwise. */
export type Delivery = "fast" | "durable" | "broadcast";

/** What begins runs of a registered flow by itself: one of `cron`, `every` and `at`. */
export interface Schedule {
  name?: string;
  cron?: string;
  zone?: string;
  every?: Span;
  from?: string;
  at?: string;
  jitter?: Span;
  overlap?: string;
  catchUp?: unknown;
  with?: Readonly<Record<string, unknown>>;
}

type End = "ok" | "failed" | "skipped" | "cancelled" | "done";

/** What a task can have beside its work. */
export interface TaskOptions {
  /** What it waits for beside what it refers to: tasks, or tasks with the ends that are accepted. */
  after?: Task | string | readonly (Task | string)[] | Readonly<Record<string, End | readonly End[]>>;
  join?: "all" | "any" | number;
  when?: Ref;
  each?: Ref | Task | readonly unknown[];
  tolerate?: number;
  failFast?: boolean;
  retry?: number | Retry;
  timeout?: Span | Timeout;
  queue?: string;
  priority?: number;
  limit?: Readonly<Record<string, unknown>>;
  publish?: Told;
}

/** What a flow can have beside its tasks. Policies hold for all tasks that do not say otherwise. */
export interface FlowOptions {
  description?: string;
  labels?: Readonly<Record<string, string>>;
  namespace?: string;
  onFailure?: "continue" | "fail_fast" | "hold";
  retry?: number | Retry;
  timeout?: Span | Timeout;
  queue?: string;
  priority?: number;
  publish?: Told;
}

/** What is told: an event by its name alone, or with its condition, or several. */
export type Told = string | Publish | readonly (string | Publish)[];

/** Something that a run is given. */
export interface InputOptions {
  type?: "string" | "number" | "integer" | "boolean" | "list" | "map" | "any";
  default?: unknown;
  required?: boolean;
  pattern?: string;
  description?: string;
}

/** Who does a task, and what they are given. */
export class Work {
  constructor(readonly keys: Readonly<Record<string, unknown>>) {}
}

/** A worker that offers the action. */
export function call(action: string, given?: Record<string, unknown>): Work {
  return new Work({ action, with: given });
}

/** A shell on the server's machine; `reads` says how its output is read. */
export function shell(script: string, env?: Record<string, unknown>, reads?: "text" | "json" | "lines"): Work {
  return new Work({ run: script, env, output: reads });
}

/** An HTTP request that the server makes. */
export function request(
  url: string,
  options: { method?: string; json?: unknown; headers?: Record<string, string> } = {},
): Work {
  return new Work({ http: { url, ...options } });
}

/** A wait. */
export function timer(span: Span): Work {
  return new Work({ gate: { timer: written(span) } });
}

/** A wait for so many of these people; `escalate` says who else is asked how long after the gate was reached. */
export function approval(
  from: readonly string[],
  options: Bounds & { count?: number; escalate?: readonly { after: Span; to: readonly string[] }[] } = {},
): Work {
  const { count, escalate, ...rest } = options;
  const later = escalate?.map(({ after, to }) => ({ after: written(after), to }));
  return new Work({ gate: { approval: { from, count }, escalate: later, ...bounds(rest) } });
}

/** How long a gate may stay closed, what happens then, and what somebody is shown who decides on it. */
export interface Bounds {
  deadline?: Span;
  onDeadline?: "open" | "reject";
  /** The tasks whose outputs are shown. */
  evidence?: readonly (Task | string)[];
}

function bounds({ deadline, onDeadline, evidence }: Bounds): Record<string, unknown> {
  const shown = evidence?.map((task) => (task instanceof Task ? task.name : task));
  return { deadline: written(deadline), on_deadline: onDeadline, evidence: shown };
}

/** Tells the outside world of a domain event when the flow comes to it; nobody works on it. */
export function emit(name: string, payload?: unknown, delivery?: Delivery): Work {
  return new Work({ emit: { name, delivery, payload } });
}

/** A wait for a call of the gate's address; what is sent there is the output. */
export function webhook(options: Bounds = {}): Work {
  return new Work({ gate: { webhook: {}, ...bounds(options) } });
}

/** A wait until another system says so of the thing that it calls so. */
export function external(system: string, id: unknown, options: Bounds = {}): Work {
  return new Work({ gate: { external: { system, id }, ...bounds(options) } });
}

/** A run of another flow. */
export function subRun(flow: string, inputs?: Record<string, unknown>): Work {
  return new Work({ flow, with: inputs });
}

/** An item of the work graph, which somebody closes. */
export function person(title: string, fields: Record<string, unknown> = {}): Work {
  return new Work({ item: { title, ...fields } });
}

/** A task of a flow that is being built. Used as a value, it is its output. */
export class Task {
  constructor(readonly name: string) {}

  /** What it will have made. */
  get output(): Ref {
    return new Ref("tasks").at(this.name).at("output");
  }

  /** What its output holds under a key, or at a place. */
  at(key: string | number): Ref {
    return this.output.at(key);
  }

  toString(): string {
    return this.output.toString();
  }

  toJSON(): string {
    return this.toString();
  }
}

/** A flow that is being built. */
export class Flow {
  readonly #inputs = new Map<string, InputOptions>();
  readonly #tasks = new Map<string, Record<string, unknown>>();
  readonly #secrets = new Set<string>();
  readonly #schedules: Record<string, unknown>[] = [];
  #webhook: { into: string | undefined } | undefined;
  #output: unknown;

  constructor(
    readonly name: string,
    readonly options: FlowOptions = {},
  ) {}

  /** Something that a run is given. */
  input(name: string, options: InputOptions = {}): Ref {
    this.#unused(name, this.#inputs, "input");
    this.#inputs.set(name, options);
    return new Ref("inputs").at(name);
  }

  /** Something that tasks are given without anybody seeing it; where it is found the server says. */
  secret(name: string): Ref {
    this.#secrets.add(name);
    return new Ref("secrets").at(name);
  }

  /** Has runs begin by themselves once the flow is registered. */
  onSchedule({ every, jitter, catchUp, ...rest }: Schedule): void {
    this.#schedules.push({ ...rest, every: written(every), jitter: written(jitter), catch_up: catchUp });
  }

  /** Has a run begin when the address of the registered flow is called; the body is its input, or that named here. */
  onWebhook(into?: string): void {
    this.#webhook = { into };
  }

  /** Adds a task. Its name is what the run shows. */
  task(name: string, work: Work, options: TaskOptions = {}): Task {
    this.#unused(name, this.#tasks, "task");
    const { after, when, each, failFast, retry, timeout, publish, ...rest } = options;
    this.#tasks.set(name, {
      ...work.keys,
      ...rest,
      after: waited(after),
      when: when?.text,
      each: each === undefined ? undefined : expression(each),
      fail_fast: failFast,
      retry: tried(retry),
      timeout: timed(timeout),
      publish: told(publish),
    });
    return new Task(name);
  }

  /** What the run makes. */
  output(value: unknown): void {
    this.#output = value;
  }

  /** The flow's text. */
  text(): string {
    const { description, labels, namespace, onFailure, retry, timeout, queue, priority, publish } = this.options;
    const defaults = { retry: tried(retry), timeout: timed(timeout), queue, priority };
    const some = Object.values(defaults).some((value) => value !== undefined);
    const schedule = this.#schedules.length > 0 ? this.#schedules : undefined;
    const begun = schedule !== undefined || this.#webhook !== undefined;
    const plain = {
      flow: this.name,
      description,
      labels,
      namespace,
      on_failure: onFailure,
      defaults: some ? defaults : undefined,
      publish: told(publish),
      on: begun ? { schedule, webhook: this.#webhook } : undefined,
      inputs: this.#inputs.size > 0 ? Object.fromEntries(this.#inputs) : undefined,
      secrets: this.#secrets.size > 0 ? [...this.#secrets] : undefined,
      tasks: Object.fromEntries(this.#tasks),
      output: this.#output,
    };
    return `${JSON.stringify(plain, null, 2)}\n`;
  }

  #unused(name: string, known: Map<string, unknown>, what: string): void {
    if (known.has(name)) throw new Error(`flow ${this.name} has a second ${what} ${name}: give it another name`);
  }
}

/** Begins a flow. */
export function flow(name: string, options?: FlowOptions): Flow {
  return new Flow(name, options);
}

/** A value as an expression: JSON is one, and references may stand in it. */
function expression(value: unknown): string {
  if (value instanceof Task) return value.output.text;
  if (value instanceof Ref) return value.text;
  if (Array.isArray(value)) return `[${value.map(expression).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${expression(inner)}`);
    return `{${entries.join(", ")}}`;
  }
  return JSON.stringify(value);
}

function told(publish: Told | undefined): unknown {
  return typeof publish === "string" || (publish !== undefined && "name" in publish) ? [publish] : publish;
}

function waited(after: TaskOptions["after"]): unknown {
  if (after instanceof Task) return [after.name];
  if (Array.isArray(after)) return after.map((task: Task | string) => (task instanceof Task ? task.name : task));
  return after;
}

function tried(retry: number | Retry | undefined): unknown {
  if (typeof retry !== "object") return retry;
  const { attempts, base, kind, factor, cap, jitter, never } = retry;
  const backoff = { kind, base: written(base), factor, cap: written(cap) };
  const some = Object.values(backoff).some((value) => value !== undefined);
  return { max_attempts: attempts, backoff: some ? backoff : undefined, jitter, never };
}

function timed(timeout: Span | Timeout | undefined): unknown {
  if (typeof timeout !== "object") return written(timeout);
  const { attempt, overall, queue, heartbeat } = timeout;
  return { attempt: written(attempt), overall: written(overall), queue: written(queue), heartbeat: written(heartbeat) };
}

function written(span: Span | undefined): string | undefined {
  return typeof span === "number" ? `${Math.round(span)}ms` : span;
}
