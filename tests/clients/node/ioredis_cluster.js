"use strict";
// ioredis's Cluster, against mayfly --shards 2: the steps of scripts/suite/clients.py. Arguments: port, password.
const Redis = require("ioredis");
const { tell, attempt, expect, run } = require("./transcript.js");

const [port, password] = process.argv.slice(2);
const KEYS = 200;

run(async () => {
  const redisOptions = { username: "default", password };
  const cluster = new Redis.Cluster([{ host: "127.0.0.1", port: Number(port) + 1 }], { redisOptions });
  await new Promise((resolve, reject) => cluster.once("ready", resolve).once("error", reject));
  const ports = cluster.nodes("master").map((node) => node.options.port - port);
  tell("finds all nodes by one of them", ports.sort());

  const keys = Array.from({ length: KEYS }, (_, number) => `key:${number}`);
  await Promise.all(keys.map((key) => cluster.set(key, key, "EX", 100)));
  const values = await Promise.all(keys.map((key) => cluster.get(key)));
  expect(values.every((value, index) => value === keys[index]), "a value is lost");
  const sizes = await Promise.all(cluster.nodes("master").map((node) => node.dbsize()));
  expect(sizes.length === 2 && Math.min(...sizes) > KEYS / 4, `${sizes}`);
  tell("spreads keys over the nodes", sizes[0] + sizes[1]);

  const several = [await cluster.mset("{tag}1", 1, "{tag}2", 2), await cluster.mget("{tag}1", "{tag}2")];
  tell("uses several keys", several, await attempt(cluster.mget("a", "b")));

  const replies = await cluster.pipeline().set("{p}1", 1).incr("{p}1").get("{p}1").exec();
  tell("sends pipelines", replies);

  tell("runs a transaction", await cluster.multi().set("{t}1", 1).incr("{t}1").exec());
  tell("runs scripts where their keys are", await cluster.eval("return redis.call('INCR', KEYS[1])", 1, "s"));
  cluster.disconnect();
});
