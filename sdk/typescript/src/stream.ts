/** Server-sent events, from lines. */

/** One event of a stream. */
export interface StreamEvent {
  /** What names its place in the stream, and what the stream goes on behind; a fast domain event has none. */
  id: string | undefined;
  /** What kind of event it is. */
  name: string;
  /** What it says, in the form of `edgewise events --json`. */
  data: unknown;
}

/** One event of a run's ledger. */
export interface RunEvent extends StreamEvent {
  /** Its place in the run's stream: 1, 2, 3, without gaps. */
  seq: number;
}

/** What the outside world is told. */
export interface DomainEvent {
  /** Its place in the queue of its namespace, for `acknowledge`; a fast one is in no queue. */
  place: number | undefined;
  /** The CloudEvent: `id`, `type`, `subject`, `time`, `data` and the rest. */
  event: any;
}

/** What was heard of the next event so far. */
export class Lines {
  #rest = "";
  #id: string | undefined;
  #name = "";
  #data: string[] = [];

  /** Takes a piece of text; gives the events that it completes. */
  *feed(text: string): Generator<StreamEvent> {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = this.#line(line.endsWith("\r") ? line.slice(0, -1) : line);
      if (event !== undefined) yield event;
    }
  }

  #line(line: string): StreamEvent | undefined {
    if (line === "") return this.#end();
    const at = line.indexOf(":");
    const [name, rest] = at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1)];
    const value = rest.startsWith(" ") ? rest.slice(1) : rest;
    // An empty id is none: a stream does not go on behind it.
    if (name === "id") this.#id = value === "" ? undefined : value;
    else if (name === "event") this.#name = value;
    else if (name === "data") this.#data.push(value);
    return undefined;
  }

  #end(): StreamEvent | undefined {
    const [id, name, data] = [this.#id, this.#name, this.#data];
    this.#id = undefined;
    this.#name = "";
    this.#data = [];
    if (data.length === 0) return undefined;
    return { id, name: name || "message", data: JSON.parse(data.join("\n")) };
  }
}
