/** A server that answers as a test has written it down, and a clock that moves when the test says so. */

import { once } from "node:events";
import { type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mock } from "node:test";

/** In place of the clock that patience is measured by. */
export class Clock {
  #now = 1_000_000;

  constructor() {
    mock.method(performance, "now", () => this.#now);
  }

  /** Lets time pass. */
  move(milliseconds: number): void {
    this.#now += milliseconds;
  }

  restore(): void {
    mock.restoreAll();
  }
}

/** One answer, of a call or of a stream that is cut off at last. */
export interface Answer {
  /** The text of a stream, or what a call is told. */
  said: unknown;
  status?: number;
  /** What happens before the answer ends. */
  then?: () => unknown;
  /** Whether the stream ends as one that is over does. */
  clean?: boolean;
}

async function give({ said, status, then, clean }: Answer, response: ServerResponse): Promise<void> {
  if (typeof said !== "string") {
    await then?.();
    response.writeHead(status ?? 200).end(JSON.stringify(said));
    return;
  }
  response.writeHead(200).flushHeaders();
  if (said !== "") await new Promise((written) => response.write(said, written));
  await then?.();
  if (clean) response.end();
  else response.socket?.destroySoon();
}

/** A server that gives these answers, one after another. */
export class Script {
  /** The `Last-Event-ID` of each request. */
  readonly lastIds: (string | undefined)[] = [];
  readonly #server: Server;

  private constructor(answers: readonly Answer[]) {
    const left = [...answers];
    this.#server = createServer((request, response) => {
      this.lastIds.push(request.headers["last-event-id"] as string | undefined);
      const answer = left.shift();
      if (answer !== undefined) void give(answer, response);
    });
  }

  static async start(...answers: Answer[]): Promise<Script> {
    const script = new Script(answers);
    script.#server.listen(0, "127.0.0.1");
    await once(script.#server, "listening");
    return script;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
