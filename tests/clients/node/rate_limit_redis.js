"use strict";
// rate-limit-redis under express-rate-limit, in an Express application that serves HTTP. Arguments: port, password.
const express = require("express");
const { rateLimit } = require("express-rate-limit");
const { RedisStore } = require("rate-limit-redis");
const { ioredis, nodeRedis } = require("./connections.js");
const { tell, expect, eventually, run } = require("./transcript.js");

const MINUTE_MS = 60_000;

// A limiter that counts the requests of each user. The header "who" names the user.
function limiter(store, more = {}) {
  const keyGenerator = (request) => request.get("who");
  const options = {
    windowMs: MINUTE_MS,
    limit: 3,
    standardHeaders: "draft-6",
    legacyHeaders: false,
    keyGenerator,
    store,
  };
  return rateLimit({ ...options, ...more });
}

// An application with a limiter. `get` sends a request and returns status, text, limit and remaining requests.
async function application(middleware) {
  const app = express();
  app.use(middleware);
  app.get("/fails", (request, response) => response.status(500).send("failed"));
  app.get("/", (request, response) => response.send("hello"));
  const server = await new Promise((resolve) => {
    const listening = app.listen(0, "127.0.0.1", () => resolve(listening));
  });
  const get = async (who, path = "/") => {
    const answer = await fetch(`http://127.0.0.1:${server.address().port}${path}`, { headers: { who } });
    const [limit, left, reset] = ["limit", "remaining", "reset"].map((name) => answer.headers.get(`ratelimit-${name}`));
    expect(reset === null || (reset > 0 && reset <= 60), `reset after ${reset} s`);
    return [answer.status, await answer.text(), limit, left];
  };
  return { get, close: () => server.close() };
}

async function flow(name, sendCommand, r) {
  const store = new RedisStore({ sendCommand, prefix: `${name}:` });
  const app = await application(limiter(store));
  const saw = [];
  for (let number = 0; number < 4; ++number) saw.push(await app.get("ann"));
  tell(`${name}: limits`, ...saw, await app.get("bob"));

  const { totalHits, resetTime } = await store.get("ann");
  const time = resetTime - Date.now();
  tell(`${name}: tells of hits`, totalHits, time > 0 && time <= MINUTE_MS, (await store.get("nobody")).totalHits);

  await store.decrement("bob");
  const bob = await app.get("bob");
  await store.resetKey("ann");
  tell(`${name}: decrements and resets`, bob, await app.get("ann"));

  await r.call("SCRIPT", "FLUSH");
  tell(`${name}: loads its script anew`, await app.get("ann"), (await store.get("ann")).totalHits);
  app.close();

  const forgiving = await application(
    limiter(new RedisStore({ sendCommand, prefix: `${name}:f:` }), { skipFailedRequests: true }),
  );
  const failed = [await forgiving.get("ann", "/fails"), await forgiving.get("ann", "/fails")];
  await eventually(
    () => r.get(`${name}:f:ann`),
    (hits) => hits === "0",
    "a failed request counts",
  );
  tell(`${name}: forgives what failed`, ...failed, await forgiving.get("ann"));
  forgiving.close();

  const brief = await application(
    limiter(new RedisStore({ sendCommand, prefix: `${name}:b:` }), { windowMs: 300, limit: 1 }),
  );
  const passes = [await brief.get("ann"), await brief.get("ann")];
  await eventually(
    () => r.exists(`${name}:b:ann`),
    (exists) => exists === 0,
    "no expiry",
  );
  tell(`${name}: begins a new window`, ...passes, await brief.get("ann"));
  brief.close();
}

run(async () => {
  const io = ioredis();
  const redis = await nodeRedis();
  await flow("ioredis", (...words) => io.call(...words), io);
  await flow("node-redis", (...words) => redis.sendCommand(words), io);
});
