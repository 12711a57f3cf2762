"use strict";
// scripts/examples/client_cache.js: the steps of scripts/suite/clients.py. Arguments: port, password.
const { caching } = require("../../../scripts/examples/client_cache.js");
const { tell, expect, eventually, run } = require("./transcript.js");

const [port, password] = process.argv.slice(2);
const READS = 100;

run(async () => {
  const url = `redis://default:${password}@127.0.0.1:${port}`;
  const reader = await caching(url).connect();
  const writer = await caching(url).connect();
  const asked = async () => Number(/cmdstat_get:calls=(\d+)/.exec(await writer.info("commandstats"))?.[1] ?? 0);
  await writer.set("page", "old");
  const before = await asked();
  for (let i = 0; i < READS; ++i) expect((await reader.get("page")) === "old", "another value");
  const saw = (await asked()) - before;
  expect(saw === 1, `the server saw ${saw} reads`);
  tell("reads are answered by the client", saw);

  await writer.set("page", "new");
  const value = await eventually(() => reader.get("page"), (got) => got === "new", "the change is not seen");
  tell("a change is seen", value);
  reader.destroy();
  writer.destroy();
});
