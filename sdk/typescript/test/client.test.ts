/** What callers do: start, wait, look, act, and what they are told when it cannot be. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as edgewise from "../src/index.js";
import { type Flow, approval, emit, expr, external, flow, item, literal, shell, timer, webhook } from "../src/index.js";
import { Server } from "./server.js";

let server: Server;
before(async () => {
  server = await Server.start("--work");
});
after(() => server.close());

function echo(name = "echo"): Flow {
  const f = flow(name);
  f.output(f.task("say", shell("printf hello")));
  return f;
}

async function collect<T>(from: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of from) all.push(one);
  return all;
}

test("a run is started and its result waited for", async () => {
  const run = await server.client().start(echo());
  assert.equal(await run.result(20_000), "hello");
  assert.equal(run.isNew, true);
  assert.equal((await run.show()).run, run.id);
});

test("the same key gives the same run", async () => {
  const client = server.client();
  const first = await client.start(echo(), undefined, { key: "k1", labels: { team: "web" } });
  const again = await client.start(echo(), undefined, { key: "k1", labels: { team: "web" } });
  assert.deepEqual([first.id, first.isNew, again.isNew], [again.id, true, false]);
});

test("text and input are taken as they are", async () => {
  const a = "{ run: 'echo \"$N\"', env: { N: '${{ inputs.n }}' }, output: json }";
  const text = `flow: f\ninputs: { n: { type: integer } }\ntasks:\n  a: ${a}\n`;
  const run = await server.client().start(text, { n: 7 });
  assert.deepEqual(await run.result(20_000), { a: 7 });
});

test("a wait that is too short says so, and a run that was cancelled has no result", async () => {
  const f = flow("slow");
  f.task("wait", timer("1h"));
  const run = await server.client().start(f);
  await assert.rejects(run.wait(50), edgewise.WaitOver);
  assert.equal(await run.cancel({ why: "enough" }), true);
  assert.equal(await run.cancel(), false);
  const end = await run.wait(20_000);
  assert.deepEqual([end.ok, end.state], [false, "Cancelled"]);
  assert.throws(() => end.result(), edgewise.RunFailed);
});

test("runs are listed page after page", async () => {
  const client = server.client();
  const started = await Promise.all([1, 2, 3, 4, 5].map(() => client.start(echo("listed"))));
  const listed = await collect(client.runs("flow:listed", { page: 2 }));
  assert.deepEqual(listed.map((run) => run.run).sort(), started.map((run) => run.id).sort());
});

test("each refusal has a type and a stable code", async () => {
  const client = server.client();
  const cases: [() => Promise<unknown>, typeof edgewise.Problem, string][] = [
    [() => client.show("r000000000000000"), edgewise.NotFound, "run_not_found"],
    [() => client.start("nobody-registered-this"), edgewise.NotFound, "flow_not_found"],
    [() => client.start("flow: x\n"), edgewise.Invalid, "bad_flow"],
    [() => server.client({ token: "wrong" }).flows(), edgewise.Unauthorized, "bad_token"],
    [() => collect(client.events("r000000000000000")), edgewise.NotFound, "run_not_found"],
  ];
  for (const [ask, kind, code] of cases) {
    await assert.rejects(ask, (error) => {
      assert.ok(error instanceof kind && error instanceof edgewise.EdgewiseError, String(error));
      assert.equal(error.code, code);
      return true;
    });
  }
});

test("nobody at the address is unreachable", async () => {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  listener.close();
  await once(listener, "close");
  const client = server.client({ url: `http://127.0.0.1:${port}`, patience: 0 });
  await assert.rejects(client.flows(), (error) => error instanceof edgewise.Unreachable && !error.sent);
});

test("a gate opens when the right people agree, and fails when one refuses", async () => {
  const f = flow("release");
  const ask = f.task("ask", approval(["lead", "quality"], { count: 2 }));
  f.task("ship", shell("printf shipped"), { after: ask });
  const [lead, quality] = [server.client({ who: "lead" }), server.client({ who: "quality" })];
  const run = await lead.start(f);
  assert.equal(await lead.approve(run.id, "ask", "fine"), true);
  assert.equal(await lead.withdraw(run.id, "ask"), true);
  assert.equal(await lead.approve(run.id, "ask"), true);
  assert.equal(await quality.approve(run.id, "ask"), true);
  assert.equal((await run.wait(20_000)).ok, true);
  const refused = await lead.start(f);
  await quality.reject(refused.id, "ask");
  assert.equal((await refused.wait(20_000)).state, "Error");
});

test("gates that the world opens are built, and may be refused by anybody", async () => {
  const f = flow("outside");
  f.task("hook", webhook({ deadline: "2d" }));
  f.task("ticket", external("jira", "ABC-1", { deadline: "1h", onDeadline: "open" }));
  const client = server.client();
  const run = await client.start(f);
  for (const gate of ["hook", "ticket"]) assert.equal(await client.reject(run.id, gate), true);
  assert.equal((await run.wait(20_000)).state, "Error");
});

test("gates that the world opens are satisfied with what came", async () => {
  const f = flow("satisfied");
  f.task("hook", webhook());
  f.task("ticket", external("jira", "ABC-2"));
  const client = server.client();
  const run = await client.start(f);
  assert.equal(await client.satisfy(run.id, "hook", { state: "merged" }, "seen by hand"), true);
  await assert.rejects(run.satisfy("hook", { state: "other" }), edgewise.Conflict, "it does not wait any more");
  assert.equal(await run.satisfy("ticket"), true);
  assert.deepEqual(await run.result(20_000), { hook: { state: "merged" } });
});

test("a run is paused, resumed and done again", async () => {
  const client = server.client();
  const f = flow("again");
  f.task("wait", timer("1h"));
  const run = await client.start(f);
  assert.equal(await client.pause(run.id), true);
  assert.equal(await client.resume(run.id), true);
  await client.skip(run.id, "wait");
  await run.wait(20_000);
  const done = await client.start(echo());
  await done.wait(20_000);
  assert.equal(await client.rerun(done.id, { why: "once more" }), 1);
  assert.equal((await done.wait(20_000)).ok, true);
});

async function first<T>(from: AsyncIterable<T>, count: number): Promise<T[]> {
  const all: T[] = [];
  for await (const one of from) if (all.push(one) === count) break;
  return all;
}

test("a consumer reads what it has not acknowledged", async () => {
  const client = server.client();
  const f = flow("tells", { namespace: "shop/eu" });
  f.task("a", emit("e0", { n: 0 }));
  f.task("b", emit("e1", { n: 1 }), { after: "a" });
  f.task("c", emit("e2", { n: 2 }), { after: "b" });
  await (await client.start(f)).wait(20_000);
  const told = await first(client.domainEvents("shop/eu", 0), 3);
  assert.deepEqual(told.map(({ event }) => event.type), ["e0", "e1", "e2"]);
  assert.deepEqual(told[1]?.event.data.payload, { n: 1 });
  assert.deepEqual(await collect(client.domain("shop/eu", { page: 2 })), told);
  const place = told[0]?.place ?? 0;
  assert.equal(await client.acknowledge("shop/eu", "billing", place), place);
  assert.deepEqual(await collect(client.domain("shop/eu", { consumer: "billing", page: 1 })), told.slice(1));
  assert.deepEqual(await collect(client.domain("shop/eu", { after: told[1]?.place ?? 0 })), told.slice(2));
  assert.ok((await client.namespaces()).some((queue) => queue.namespace === "shop/eu"));
  await client.forget("shop/eu", "billing");
  await assert.rejects(client.forget("shop/eu", "billing"), edgewise.NotFound);
});

test("fast events come without a place", async () => {
  const client = server.client();
  const f = flow("quick", { namespace: "quick" });
  f.task("then", emit("then"));
  f.task("ask", approval(["lead"]), { after: "then" });
  f.task("now", emit("now", undefined, "fast"), { after: "ask" });
  const run = await client.start(f);
  const heard: unknown[] = [];
  for await (const { place, event } of client.domainEvents("quick", 0)) {
    heard.push([event.type, place === undefined]);
    if (heard.length === 2) break;
    // Whoever has heard the first is there for the second.
    await server.client({ who: "lead" }).approve(run.id, "ask");
  }
  assert.deepEqual(heard, [["then", false], ["now", true]]);
});

test("the events of a workspace begin where they are asked to", async () => {
  const client = server.client();
  const run = await client.start(echo());
  await run.wait(20_000);
  const [begun] = await first(client.workspaceEvents({ after: "0", types: ["RunTriggered"], run: run.id }), 1);
  assert.deepEqual([begun?.name, (begun?.data as { run: string }).run], ["RunTriggered", run.id]);
  const events = await first(client.workspaceEvents({ after: "0", run: run.id }), 3);
  const [behind] = await first(client.workspaceEvents({ after: events[1]?.id ?? "", run: run.id }), 1);
  assert.deepEqual(behind, events[2]);
});

test("registered flows are listed, all of them, and begin by name", async () => {
  const client = server.client();
  const names = Array.from({ length: 103 }, (_, n) => `kept-${String(n).padStart(3, "0")}`);
  for (const name of names) await client.register(echo(name));
  const [again] = await client.register(echo("kept-000"));
  assert.deepEqual([again.flow, again.changed], ["kept-000", false]);
  const known: string[] = (await client.flows()).map((flow) => flow.flow);
  assert.deepEqual(known.filter((name) => name.startsWith("kept-")), names);
  assert.equal(await (await client.start("kept-102")).result(20_000), "hello");
});

test("events come in order and go on behind the last", async () => {
  const run = await server.client().start(echo());
  const events = await collect(run.events());
  assert.deepEqual(events.map((event) => event.seq), events.map((_, n) => n + 1));
  assert.equal(events[0]?.name, "RunTriggered");
  assert.deepEqual(await collect(run.events(2)), events.slice(2));
});

test("a stream goes on where it was when its server is killed", async () => {
  const own = await Server.start("--work");
  const f = flow("long");
  f.task("ask", approval(["lead"]));
  f.task("say", shell("printf hello"), { after: "ask" });
  const run = await own.client({ patience: 30_000 }).start(f);
  const seen: number[] = [];
  for await (const event of run.events()) {
    seen.push(event.seq);
    if (seen.length > 1) continue;
    await own.kill();
    await own.restart();
    await own.client({ who: "lead" }).approve(run.id, "ask");
  }
  assert.deepEqual(seen, (await collect(run.events())).map((event) => event.seq));
  await own.close();
});

test("what the builder writes passes the check and runs", async () => {
  const f = flow("built", { description: "Everything.", retry: { attempts: 3, base: 100, cap: "1m" }, timeout: "10m" });
  const people = f.input("people", { type: "list", default: ["ann", "bob"] });
  const policies = { retry: 2, tolerate: 1, priority: 5 };
  const greet = f.task("greet", shell('printf %s "$WHO"', { WHO: item }), { each: people, ...policies });
  const count = f.task("count", shell("echo 2", undefined, "json"), { timeout: { attempt: 30_000, overall: "1h" } });
  const text = `${greet.at(0)} and ${literal("${{ not this }}")}`;
  f.task("both", shell('printf %s "$TEXT"', { TEXT: text }), { when: expr(`${count.output.text} == 2`) });
  f.task("fixed", shell('printf %s "$N"', { N: item }), { each: ["${{ plain }}", people.at(0)] });
  f.task("late", shell("true"), { after: { both: ["ok", "skipped"] } });
  f.task("never", shell("true"), { after: { late: "failed" } });
  f.output({ greeted: greet, first: people.at(0) });
  const file = join(server.folder, "built.yaml");
  writeFileSync(file, f.text());
  const checked = server.command("check", file);
  assert.equal(checked.status, 0, checked.text);
  const run = await server.client().start(f, { people: ["cem", "dora"] });
  assert.deepEqual(await run.result(20_000), { greeted: ["cem", "dora"], first: "cem" });
});

test("what is told, kept secret, escalated and begun by itself is built", async () => {
  const failed = { name: "failed", condition: "failure", delivery: "broadcast" } as const;
  const f = flow("more", { publish: ["done", failed] });
  f.input("body", { type: "any", default: null });
  f.onSchedule({ cron: "0 7 * * 1-5", zone: "Europe/Berlin", name: "mornings", with: { body: 1 } });
  f.onSchedule({ every: "15m", jitter: 30_000, overlap: "skip" });
  f.onWebhook("body");
  const key = f.secret("API_KEY");
  const publish = { name: "scanned", payload: { ok: true } };
  const scan = f.task("scan", shell("true", { KEY: key }), { publish });
  const escalate = [{ after: "1d", to: ["boss"] }, { after: "2d", to: ["owner", "board"] }];
  f.task("ask", approval(["lead"], { deadline: "3d", escalate, evidence: [scan] }), { after: scan });
  f.task("hook", webhook({ evidence: ["scan"] }), { after: scan });
  f.task("tell", emit("order.shipped", { by: "sea" }, "broadcast"), { after: "ask", publish: "told" });
  const file = join(server.folder, "more.yaml");
  writeFileSync(file, f.text());
  const checked = server.command("check", file);
  assert.equal(checked.status, 0, checked.text);
  const [made] = await server.client().register(f);
  assert.deepEqual([made.webhook, made.schedules.length], [true, 2]);
});

test("a name is used once", () => {
  const f = flow("twice");
  f.task("a", shell("true"));
  assert.throws(() => f.task("a", shell("true")));
});
