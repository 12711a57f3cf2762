"use strict";
// node-redis's createSentinel: the steps of scripts/suite/clients.py. Arguments: the sentinels' ports, password.
const { createClient, createSentinel } = require("redis");
const { tell, attempt, expect, eventually, killed, restarted, run } = require("./transcript.js");

const [ports, password] = process.argv.slice(2);
const NAME = "mymaster";
const REPLICAS = 2;
const WAIT_MS = 20_000;
const sentinelRootNodes = ports.split(",").map((port) => ({ host: "127.0.0.1", port: Number(port) }));

async function plain(place, options) {
  const client = createClient({ socket: place, ...options });
  client.on("error", () => {});
  return client.connect();
}

run(async () => {
  const first = await plain(sentinelRootNodes[0]);
  const knownMaster = () => first.sendCommand(["SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME]);
  const found = () => first.sendCommand(["SENTINEL", "REPLICAS", NAME]);
  await eventually(found, (replicas) => replicas.length === REPLICAS, "the replicas are not found");
  // Reads go to replicas, and everything else to the master.
  const group = createSentinel({ name: NAME, sentinelRootNodes, nodeClientOptions: { password }, replicaPoolSize: 1 });
  group.on("error", () => {});
  await group.connect();
  const role = (isReadOnly) => group.sendCommand(isReadOnly, ["ROLE"]).then((reply) => reply[0]);
  tell("finds the master and a replica by the sentinels", await role(false), await role(true));

  // A lease of one connection to the master, since WAIT is about the writes of its connection.
  const confirm = (key) => group.use(async (one) => [await one.set(key, "v"), await one.wait(REPLICAS, WAIT_MS)]);
  tell("reads at a replica what the master has got", await confirm("confirmed"), await group.get("confirmed"));

  const before = await knownMaster();
  await killed();
  const written = await eventually(() => group.set("after", "v"), (reply) => reply === "OK", "no write is taken");
  const now = await knownMaster();
  expect(now[1] !== before[1], "the master is the one that was killed");
  tell("goes on at another server when the master is killed", written, await role(false));
  tell("finds there what WAIT has confirmed", await group.use((one) => one.mGet(["confirmed", "after"])));

  await restarted();
  const complete = (info) => String(info).includes(`connected_slaves:${REPLICAS}\r\n`);
  await eventually(() => group.use((one) => one.info("replication")), complete, "no replica comes back");
  const last = await confirm("last");
  const old = await plain({ host: before[0], port: Number(before[1]) }, { password });
  const oldRole = (await old.sendCommand(["ROLE"]))[0];
  tell("has the old master as a replica", last, oldRole, await old.mGet(["confirmed", "after", "last"]));
});
