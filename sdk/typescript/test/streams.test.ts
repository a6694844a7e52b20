/** Streams that are cut off: they go on where they were, however quiet it was before, as long as somebody is there. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { Client, Unauthorized, Unavailable } from "../src/index.js";
import { type Answer, Clock, Script } from "./script.js";

const PATIENCE = 10_000;
const QUIET = 60_000;

let clock: Clock;
let scripts: Script[];
beforeEach(() => {
  [clock, scripts] = [new Clock(), []];
});
afterEach(() => {
  clock.restore();
  for (const script of scripts) script.close();
});

async function play(...answers: Answer[]): Promise<[Script, Client]> {
  const script = await Script.start(...answers);
  scripts.push(script);
  return [script, new Client({ url: script.url, patience: PATIENCE })];
}

function event(id: string | undefined, n: number): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: e\ndata: {"type": "e", "n": ${n}}\n\n`;
}

async function next<T>(stream: AsyncGenerator<T>): Promise<T> {
  const { value, done } = await stream.next();
  assert.equal(done, false);
  return value as T;
}

const quiet = (): void => clock.move(QUIET);

test("a stream that was quiet for longer than patience goes on", async () => {
  for (const clean of [false, true]) {
    let cut = (): void => {};
    const until = new Promise<void>((resolve) => (cut = resolve));
    const [script, client] = await play({ said: event("7", 1), then: () => until, clean }, { said: event("8", 2) });
    const stream = client.domainEvents("q", 0);
    assert.equal((await next(stream)).place, 7);
    quiet();
    cut();
    assert.equal((await next(stream)).place, 8);
    assert.deepEqual(script.lastIds, ["0", "7"]);
    await stream.return(undefined);
  }
});

test("patience begins with the first trouble, and anew when somebody is there again", async () => {
  const said = { code: "draining", detail: "not now" };
  const almost = (): void => clock.move(PATIENCE - 1);
  const [script, client] = await play(
    { said: event("7", 1), then: quiet },
    { said, status: 503, then: almost },
    // Nothing comes but a sign of life, and the next time not even that.
    { said: ": still here\n\n", then: quiet },
    { said: "", then: quiet },
    { said, status: 503, then: almost },
    { said: event("8", 2), then: quiet },
    { said, status: 503 },
    { said, status: 503, then: () => clock.move(PATIENCE + 1) },
  );
  const stream = client.workspaceEvents({ after: "7" });
  assert.deepEqual([(await next(stream)).id, (await next(stream)).id], ["7", "8"]);
  await assert.rejects(stream.next(), Unavailable);
  assert.equal(script.lastIds.length, 8);
});

test("an event without an id is no place to go on behind", async () => {
  for (const id of [undefined, ""]) {
    for (const [after, ids] of [
      [undefined, [undefined, undefined, "9"]],
      [5, ["5", "5", "9"]],
    ] as const) {
      const both = event("9", 2) + event(id, 3);
      const [script, client] = await play({ said: event(id, 1) }, { said: both }, { said: event("10", 4) });
      const stream = client.domainEvents("q", after);
      const places = [await next(stream), await next(stream), await next(stream), await next(stream)];
      assert.deepEqual(places.map((one) => one.place), [undefined, 9, undefined, 10]);
      assert.deepEqual(script.lastIds, ids);
      await stream.return(undefined);
    }
  }
});

test("a stream that ends because its token was revoked says so", async () => {
  const revoked = { said: { code: "bad_token", detail: "the token is not good" }, status: 401 };
  for (const begin of [(client: Client) => client.domainEvents("q"), (client: Client) => client.events("r1")]) {
    const [, client] = await play({ said: event("1", 1), then: quiet, clean: true }, revoked);
    const stream: AsyncGenerator<unknown> = begin(client);
    await next(stream);
    await assert.rejects(stream.next(), Unauthorized);
  }
});

test("the events of a run go on until it has ended", async () => {
  const [script, client] = await play(
    { said: event("1", 1), then: quiet },
    { said: event("2", 2), then: quiet, clean: true },
    { said: { run: "r1", state: null } },
    { said: event("3", 3), clean: true },
    { said: { run: "r1", state: "Complete" } },
    { said: "", clean: true },
  );
  const seen: number[] = [];
  for await (const { seq } of client.events("r1")) seen.push(seq);
  assert.deepEqual(seen, [1, 2, 3]);
  assert.deepEqual(script.lastIds, ["0", "1", undefined, "2", undefined, "3"]);
});
