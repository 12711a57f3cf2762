"use strict";
// ioredis's sentinels: the steps of scripts/suite/clients.py. Arguments: the sentinels' ports, password.
const Redis = require("ioredis");
const { tell, attempt, expect, eventually, killed, restarted, run } = require("./transcript.js");

const [ports, password] = process.argv.slice(2);
const NAME = "mymaster";
const REPLICAS = 2;
const WAIT_MS = 20_000;
const sentinels = ports.split(",").map((port) => ({ host: "127.0.0.1", port: Number(port) }));

function connect(role) {
  const client = new Redis({ sentinels, name: NAME, role, password });
  client.on("error", () => {}); // a connection that breaks is part of the test
  return client;
}

run(async () => {
  const first = new Redis(sentinels[0]);
  await eventually(() => first.call("SENTINEL", "REPLICAS", NAME), (found) => found.length === REPLICAS, "the replicas are not found");
  const master = connect("master");
  const replica = connect("slave");
  tell("finds the master and a replica by the sentinels", (await master.role())[0], (await replica.role())[0]);

  const saw = [await master.set("confirmed", "v"), await master.wait(REPLICAS, WAIT_MS)];
  tell("reads at a replica what the master has got", saw, await replica.get("confirmed"), await attempt(replica.set("k", "v")));

  const before = await first.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME);
  await killed();
  const written = await eventually(() => master.set("after", "v"), (reply) => reply === "OK", "no write is taken");
  const now = await first.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME);
  expect(now[1] !== before[1], "the master is the one that was killed");
  tell("goes on at another server when the master is killed", written, (await master.role())[0]);
  tell("finds there what WAIT has confirmed", await master.mget("confirmed", "after"));

  await restarted();
  const complete = (info) => String(info).includes(`connected_slaves:${REPLICAS}\r\n`);
  await eventually(() => master.info("replication"), complete, "no replica comes back");
  const last = [await master.set("last", "v"), await master.wait(REPLICAS, WAIT_MS)];
  const old = new Redis({ host: before[0], port: Number(before[1]), password });
  tell("has the old master as a replica", last, (await old.role())[0], await old.mget("confirmed", "after", "last"));
});
