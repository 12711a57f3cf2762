"use strict";
// ioredis: the steps of scripts/suite/clients.py. Arguments: port, password. With TLS if TLS_FILES names a folder.
const fs = require("fs");
const Redis = require("ioredis");
const { tell, attempt, expect, until, restarted, run, EVERY_BYTE, LARGE, scanKeys } = require("./transcript.js");

const [port, password] = process.argv.slice(2);
const POOL = 50;
const files = process.env.TLS_FILES;
const read = (name) => fs.readFileSync(`${files}/${name}`);
const secrecy = files ? { tls: { ca: read("ca.crt"), cert: read("client.crt"), key: read("client.key") } } : {};

function connected(options = {}) {
  const client = new Redis({ port: Number(port), username: "default", password, connectionName: "driver", ...secrecy, ...options });
  // Commands tell of their errors themselves.
  client.on("error", () => {});
  return client;
}

async function pool() {
  const clients = Array.from({ length: POOL }, () => connected());
  const ids = await Promise.all(clients.map((client) => client.client("ID")));
  await Promise.all(clients.map((client, number) => client.set(`pool:${number}`, number)));
  const values = await Promise.all(clients.map((client, number) => client.get(`pool:${number}`)));
  await Promise.all(clients.map((client) => client.quit()));
  const sum = values.reduce((total, value) => total + Number(value), 0);
  expect(new Set(ids).size === POOL && sum === (POOL * (POOL - 1)) / 2, "not 50 clients at one time");
  return [new Set(ids).size, sum];
}

function pipeline(r) {
  const p = r.pipeline().set("text", "word");
  for (let number = 0; number < 50; ++number) p.set(`p:${number}`, number).incr(`p:${number}`);
  return p.incr("text").get("p:7").get("missing").del("p:1", "p:2", "missing").exec();
}

async function scan(r) {
  const found = new Set();
  for await (const page of r.scanStream({ match: "scan:*", count: 50 })) page.forEach((key) => found.add(key));
  expect(found.size === 300, "SCAN did not find 300 keys");
  return [...found].sort();
}

run(async () => {
  const r = connected();
  tell("connects with name and password", await r.ping(), await r.client("GETNAME"));
  const stranger = connected({ password: "wrong", retryStrategy: null });
  tell("meets a wrong password", await attempt(stranger.ping()));
  stranger.disconnect();
  tell("runs a pool of 50", ...(await pool()));

  const ttl = [await r.set("ttl", "v", "EX", 100), (await r.ttl("ttl")) > 0, (await r.pttl("ttl")) > 99_000];
  ttl.push(await r.set("ttl", "w", "NX"), await r.set("ttl", "w", "KEEPTTL", "XX"), await r.persist("ttl"), await r.ttl("ttl"));
  ttl.push(await r.set("ttl", "x", "GET"), await r.setex("ttl", 50, "y"), await r.expire("ttl", 60));
  ttl.push(await r.expire("missing", 60));
  tell("sets with a TTL", ...ttl, await r.getex("ttl", "PERSIST"), await r.ttl("ttl"), await r.getdel("ttl"));

  tell("MGET", await r.mset("m:1", "a", "m:2", ""), await r.mget("m:1", "missing", "m:2"));

  await r.mset(new Map(scanKeys().map((key) => [key, 1])));
  tell("SCAN", ...(await scan(r)));

  tell("pipeline", ...(await pipeline(r)));

  const binary = [await r.set(EVERY_BYTE, EVERY_BYTE), await r.getBuffer(EVERY_BYTE)];
  binary.push(await r.set("empty", ""), await r.get("empty"));
  binary.push(await r.set("line", "a\r\nb"), await r.get("line"), await r.set("large", LARGE));
  expect(LARGE.equals(await r.getBuffer("large")), "a value of 1 MB came back changed");
  tell("binary values", ...binary, await r.strlen("large"));

  const types = [await r.incr("n"), await r.incrby("n", 41), await r.decrby("n", 2), await r.append("n", "1")];
  types.push(await r.exists("n", "n"), await r.type("n"), await r.type("missing"), await r.get("missing"));
  tell("types of replies", ...types, await r.del("n", "missing"), await r.config("GET", "databases"));

  tell("floats and ranges", await attempt(r.incrbyfloat("f", 0.5)), await attempt(r.getrangeBuffer("large", 1000, 1020)));

  tell("meets an error", await attempt(r.incr("text")), await r.get("text"), await attempt(r.call("NOSUCH")));
  tell("meets a wrong type", await attempt(r.lpush("text", "x")));

  await r.set("brief", "v", "PX", 30);
  tell("meets an expiry", await until(() => r.get("brief"), null, "no expiry"), await r.ttl("brief"), await r.exists("brief"));

  await r.set("before", "v");
  await restarted();
  await until(() => r.ping(), "PONG", "no reconnection");
  tell("reconnects after a restart", await r.get("before"), await r.client("GETNAME"));
});
