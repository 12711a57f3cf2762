"use strict";
// node-redis's createCluster, against mayfly --shards 2: the steps of scripts/suite/clients.py. Arguments: port, password.
const { createCluster } = require("redis");
const { tell, attempt, expect, run } = require("./transcript.js");

const [port, password] = process.argv.slice(2);
const KEYS = 200;

run(async () => {
  const rootNodes = [{ url: `redis://127.0.0.1:${Number(port) + 1}` }];
  const cluster = createCluster({ rootNodes, defaults: { username: "default", password } });
  cluster.on("error", (error) => console.error(error));
  await cluster.connect();
  tell("finds all nodes by one of them", cluster.masters.map((master) => master.port - port).sort());

  const keys = Array.from({ length: KEYS }, (_, number) => `key:${number}`);
  await Promise.all(keys.map((key) => cluster.set(key, key, { EX: 100 })));
  const values = await Promise.all(keys.map((key) => cluster.get(key)));
  expect(values.every((value, index) => value === keys[index]), "a value is lost");
  const clients = await Promise.all(cluster.masters.map((master) => cluster.nodeClient(master)));
  const sizes = await Promise.all(clients.map((client) => client.dbSize()));
  expect(sizes.length === 2 && Math.min(...sizes) > KEYS / 4, `${sizes}`);
  tell("spreads keys over the nodes", sizes[0] + sizes[1]);

  await cluster.mSet([["{tag}1", "1"], ["{tag}2", "2"]]);
  tell("uses several keys", await cluster.mGet(["{tag}1", "{tag}2"]), await attempt(cluster.mGet(["a", "b"])));

  tell("runs a transaction", await cluster.multi().set("{t}1", "1").incr("{t}1").exec());
  tell("runs scripts where their keys are", await cluster.eval("return redis.call('INCR', KEYS[1])", { keys: ["s"] }));

  const heard = [];
  await cluster.sSubscribe("{c}news", (message) => heard.push(message));
  await cluster.sPublish("{c}news", "word");
  while (heard.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  tell("hears a shard channel", heard);
  cluster.destroy();
});
