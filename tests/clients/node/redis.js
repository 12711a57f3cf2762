"use strict";
// node-redis, in RESP3: the steps of scripts/suite/clients.py. Arguments: port, password.
const { createClient, createClientPool, RESP_TYPES } = require("redis");
const { tell, attempt, expect, until, restarted, run, EVERY_BYTE, LARGE, scanKeys } = require("./transcript.js");

const [port, password] = process.argv.slice(2);
const POOL = 50;

function options(more = {}) {
  return { RESP: 3, socket: { port: Number(port) }, username: "default", password, name: "driver", ...more };
}

async function connected(more) {
  const client = createClient(options(more));
  // Commands tell of their errors themselves.
  client.on("error", () => {});
  return client.connect();
}

async function pool() {
  const clients = createClientPool(options(), { minimum: POOL, maximum: POOL });
  clients.on("error", () => {});
  await clients.connect();
  let here = 0;
  let go;
  const together = new Promise((resolve) => (go = resolve));
  const work = async (client, number) => {
    const id = await client.clientId();
    if (++here === POOL) go();
    await together;
    await client.set(`pool:${number}`, String(number));
    return [id, Number(await client.get(`pool:${number}`))];
  };
  const done = await Promise.all(
    Array.from({ length: POOL }, (_, number) => clients.execute((client) => work(client, number))),
  );
  await clients.close();
  const ids = new Set(done.map(([id]) => id));
  const sum = done.reduce((total, [, value]) => total + value, 0);
  expect(ids.size === POOL && sum === (POOL * (POOL - 1)) / 2, "not 50 clients at one time");
  return [ids.size, sum];
}

// Commands of one turn of the loop are sent together; each has a promise, so an error keeps its place.
function pipeline(r) {
  const sent = [r.set("text", "word")];
  for (let number = 0; number < 50; ++number) sent.push(r.set(`p:${number}`, String(number)), r.incr(`p:${number}`));
  sent.push(r.incr("text"), r.get("p:7"), r.get("missing"), r.del(["p:1", "p:2", "missing"]));
  return Promise.all(sent.map(attempt));
}

async function scan(r) {
  const found = new Set();
  for await (const page of r.scanIterator({ MATCH: "scan:*", COUNT: 50 })) page.forEach((key) => found.add(key));
  expect(found.size === 300, "SCAN did not find 300 keys");
  return [...found].sort();
}

run(async () => {
  const r = await connected();
  const bytes = r.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  tell("connects with name and password", await r.ping(), await r.clientGetName());
  const once = { port: Number(port), reconnectStrategy: false };
  tell("meets a wrong password", await attempt(connected({ password: "wrong", socket: once })));
  tell("runs a pool of 50", ...(await pool()));

  const ttl = [await r.set("ttl", "v", { EX: 100 }), (await r.ttl("ttl")) > 0, (await r.pTTL("ttl")) > 99_000];
  ttl.push(await r.set("ttl", "w", { NX: true }), await r.set("ttl", "w", { XX: true, KEEPTTL: true }), await r.persist("ttl"));
  ttl.push(await r.ttl("ttl"), await r.set("ttl", "x", { GET: true }), await r.setEx("ttl", 50, "y"), await r.expire("ttl", 60));
  ttl.push(await r.expire("missing", 60), await r.getEx("ttl", { type: "PERSIST" }), await r.ttl("ttl"));
  tell("sets with a TTL", ...ttl, await r.getDel("ttl"));

  tell("MGET", await r.mSet({ "m:1": "a", "m:2": "" }), await r.mGet(["m:1", "missing", "m:2"]));

  await r.mSet(scanKeys().map((key) => [key, "1"]));
  tell("SCAN", ...(await scan(r)));

  tell("pipeline", ...(await pipeline(r)));

  const binary = [await r.set(EVERY_BYTE, EVERY_BYTE), await bytes.get(EVERY_BYTE)];
  binary.push(await r.set("empty", ""), await r.get("empty"));
  binary.push(await r.set("line", "a\r\nb"), await r.get("line"), await r.set("large", LARGE));
  expect(LARGE.equals(await bytes.get("large")), "a value of 1 MB came back changed");
  tell("binary values", ...binary, await r.strLen("large"));

  const types = [await r.incr("n"), await r.incrBy("n", 41), await r.decrBy("n", 2), await r.append("n", "1")];
  types.push(await r.exists(["n", "n"]), await r.type("n"), await r.type("missing"), await r.get("missing"));
  types.push(await r.del(["n", "missing"]));
  tell("types of replies", ...types, await r.configGet("databases"), await r.sendCommand(["CONFIG", "GET", "databases"]));

  tell("floats and ranges", await attempt(r.incrByFloat("f", 0.5)), await attempt(bytes.getRange("large", 1000, 1020)));

  tell("meets an error", await attempt(r.incr("text")), await r.get("text"), await attempt(r.sendCommand(["NOSUCH"])));
  tell("meets a wrong type", await attempt(r.lPush("text", "x")));

  await r.set("brief", "v", { PX: 30 });
  tell("meets an expiry", await until(() => r.get("brief"), null, "no expiry"), await r.ttl("brief"), await r.exists("brief"));

  await r.set("before", "v");
  await restarted();
  await until(() => r.ping(), "PONG", "no reconnection");
  tell("reconnects after a restart", await r.get("before"), await r.clientGetName());
});
