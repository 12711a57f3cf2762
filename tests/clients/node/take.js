"use strict";
// scripts/examples/cache_aside.js: the steps of scripts/suite/clients.py. Arguments: port, password.
const { createClientPool } = require("redis");
const { cached } = require("../../../scripts/examples/cache_aside.js");
const { tell, attempt, expect, eventually, run } = require("./transcript.js");

const [port, password] = process.argv.slice(2);
const CALLERS = 50;

run(async () => {
  const url = `redis://default:${password}@127.0.0.1:${port}`;
  const pool = createClientPool({ url }, { minimum: 1, maximum: CALLERS + 1 });
  pool.on("error", () => {});
  await pool.connect();
  const blocked = (count) =>
    eventually(
      () => pool.execute((client) => client.sendCommand(["INFO", "clients"])),
      (info) => info.includes(`\r\nblocked_clients:${count}\r\n`),
      "they do not wait",
    );
  const together = (key, compute) =>
    Promise.all(Array.from({ length: CALLERS }, () => attempt(cached(pool, key, 60, compute))));

  let calls = 0;
  const values = await together("page", async () => {
    ++calls;
    await blocked(CALLERS - 1);
    return "value";
  });
  expect(calls === 1 && values.every((value) => value === "value"), `${calls} computed: ${values}`);
  tell("one of 50 computes", calls, values.length);

  const errors = await together("broken", async () => {
    await blocked(CALLERS - 1);
    throw new Error("the origin is down");
  });
  expect(errors.every((error) => error instanceof Error && error.message.endsWith("the origin is down")), `${errors}`);
  tell("an error reaches all who wait", errors.length);

  // More callers than connections: the one that computes keeps its connection, and the others wait on all the rest.
  const few = createClientPool({ url }, { minimum: 1, maximum: 5, acquireTimeout: 60_000 });
  few.on("error", () => {});
  await few.connect();
  calls = 0;
  const slow = async () => {
    ++calls;
    await blocked(4);
    return "value";
  };
  const pooled = await Promise.all(Array.from({ length: CALLERS }, () => attempt(cached(few, "pooled", 60, slow))));
  expect(calls === 1 && pooled.every((value) => value === "value"), `${calls} computed: ${pooled}`);
  tell("one of 50 computes with 5 connections", calls, pooled.length);
  few.destroy();
  pool.destroy();
});
