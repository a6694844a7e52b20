/** Workers that are called: what is signed is believed, what is asked is done, by the real server. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { NotSigned, Permanent, PushWorker, type SignedHeaders, call, flow, post, verify } from "../src/index.js";
import { Server } from "./server.js";

/** The example that the libraries of Standard Webhooks are tested with. */
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const SIGNED = {
  "Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
  "Webhook-Timestamp": "1614265330",
  "Webhook-Signature": "v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const BODY = '{"test": 2432232314}';
const NOW = 1_614_265_330_000;

test("only the very message at about its time is believed", async () => {
  assert.equal(await verify(SECRET, SIGNED, BODY, NOW), SIGNED["Webhook-Id"]);
  assert.equal(await verify(["whsec_AAAA", SECRET], new Headers(SIGNED), BODY, NOW + 300_000), SIGNED["Webhook-Id"]);
  const bad: [string, SignedHeaders, string, number][] = [
    ["whsec_AAAA", SIGNED, BODY, NOW],
    [SECRET, SIGNED, "{}", NOW],
    [SECRET, { ...SIGNED, "Webhook-Id": "msg_other" }, BODY, NOW],
    [SECRET, { ...SIGNED, "Webhook-Timestamp": "1614265331" }, BODY, NOW],
    [SECRET, { ...SIGNED, "Webhook-Timestamp": "soon" }, BODY, NOW],
    [SECRET, { ...SIGNED, "Webhook-Signature": "" }, BODY, NOW],
    [SECRET, {}, BODY, NOW],
    [SECRET, SIGNED, BODY, NOW + 301_000],
    [SECRET, SIGNED, BODY, NOW - 301_000],
  ];
  for (const [secret, headers, body, now] of bad) await assert.rejects(verify(secret, headers, body, now), NotSigned);
});

test("a worker that is called does what the server asks", async () => {
  const server = await Server.start();
  writeFileSync(join(server.folder, "edgewise.toml"), 'http_allow = ["127.0.0.1"]\n');
  await server.kill();
  await server.restart();
  // The secret comes with the worker, which needs to know where it is called.
  const secrets: string[] = [];
  const worker = new PushWorker(secrets).task("greet", ({ input }) => {
    if (input.name === "") throw new Permanent("nobody to greet", { type: "no_name" });
    return { said: `hello, ${input.name}` };
  });
  const seen: [SignedHeaders, string][] = [];
  const target = createServer(async (request, response) => {
    const body = await text(request);
    seen.push([request.headers, body]);
    const reply = await worker.answer(request.headers, body);
    response.writeHead(reply.status, { "content-type": "application/json" }).end(reply.body);
  });
  await once(target.listen(0, "127.0.0.1"), "listening");
  try {
    const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
    const wanted = { name: "greeter", url, actions: ["greet", "dance"] };
    const made = (await server.client().ask(post("/workers", wanted))) as { secret: string };
    secrets.push(made.secret);
    for (const [action, name, kind] of [["greet", "ann"], ["greet", "", "no_name"], ["dance", "ann", "unknown_action"]]) {
      const f = flow("one");
      f.output(f.task("a", call(action!, { name }), { retry: { attempts: 1 } }));
      const run = await server.client().start(f);
      const ended = await run.wait(30_000);
      if (kind === undefined) assert.deepEqual(ended.output, { said: "hello, ann" });
      else assert.match(JSON.stringify(await run.show()), new RegExp(kind));
    }
    const [headers, body] = seen[0]!;
    assert.equal((await worker.answer(headers, body)).status, 409, "the same request again is recognised");
    assert.equal((await worker.answer({ ...headers, "webhook-id": "other" } as SignedHeaders, body)).status, 401);
  } finally {
    target.closeAllConnections();
    target.close();
    await server.close();
  }
});
