"use strict";
// rate-limiter-flexible, over ioredis and over node-redis. Arguments: port, password.
const limiters = require("rate-limiter-flexible");
const { ioredis, nodeRedis } = require("./connections.js");
const { tell, attempt, eventually, run } = require("./transcript.js");

const { RateLimiterRedis, RateLimiterUnion, BurstyRateLimiter, RateLimiterQueue } = limiters;

// The fields of a result or a rejection; of the time only whether there is any left.
function brief(result) {
  if (result === null || typeof result !== "object" || result instanceof Error) return result;
  const { consumedPoints, remainingPoints, isFirstInDuration, msBeforeNext } = result;
  return [consumedPoints, remainingPoints, isFirstInDuration, msBeforeNext === -1 ? -1 : msBeforeNext > 0];
}

// A limiter answers by resolving or by rejecting its promise.
function outcome(promise) {
  return promise.then(
    (value) => ["resolved", brief(value)],
    (reason) => ["rejected", brief(reason)],
  );
}

async function flow(name, options, count) {
  const limiter = new RateLimiterRedis({ points: 3, duration: 60, keyPrefix: name, ...options });
  const saw = [await outcome(limiter.get("k"))];
  for (let number = 0; number < 4; ++number) saw.push(await outcome(limiter.consume("k")));
  tell(`${name}: consumes and is limited`, ...saw, brief(await limiter.get("k")));

  const changed = [
    await outcome(limiter.penalty("k", 2)),
    await outcome(limiter.reward("k", 5)),
    await outcome(limiter.consume("k")),
  ];
  changed.push(await outcome(limiter.set("k", 3, 60)), await outcome(limiter.consume("k", 2)));
  tell(
    `${name}: penalty, reward, set`,
    ...changed,
    await limiter.delete("k"),
    await limiter.delete("k"),
    await limiter.get("k"),
  );

  const blocked = [
    await outcome(limiter.block("b", 60)),
    await outcome(limiter.consume("b")),
    brief(await limiter.get("b")),
  ];
  tell(`${name}: blocks`, ...blocked, await limiter.delete("b"), await outcome(limiter.consume("b")));

  const blocking = new RateLimiterRedis({
    points: 1,
    duration: 1,
    blockDuration: 60,
    keyPrefix: name + ":long",
    ...options,
  });
  const long = [await outcome(blocking.consume("k")), await outcome(blocking.consume("k"))];
  tell(`${name}: blocks whoever goes too far`, ...long, (await blocking.get("k")).msBeforeNext > 2000);

  const short = new RateLimiterRedis({ points: 1, duration: 1, keyPrefix: name + ":short", ...options });
  const passes = [await outcome(short.consume("k")), await outcome(short.consume("k"))];
  await eventually(
    () => short.get("k"),
    (result) => result === null,
    "no expiry",
  );
  tell(`${name}: begins anew`, ...passes, await outcome(short.consume("k")));

  const forever = new RateLimiterRedis({ points: 2, duration: 0, keyPrefix: name + ":forever", ...options });
  tell(`${name}: never begins anew`, await outcome(forever.consume("k", 2)), await outcome(forever.consume("k")));

  const many = new RateLimiterRedis({ points: 100, duration: 60, keyPrefix: name + ":many", ...options });
  const all = await Promise.all(Array.from({ length: count }, () => outcome(many.consume("k"))));
  const resolved = all.filter(([kind]) => kind === "resolved").map(([, result]) => result[0]);
  tell(
    `${name}: ${count} at once`,
    resolved.sort((a, b) => a - b),
  );
}

async function combined(options) {
  const perSecond = new RateLimiterRedis({ points: 1, duration: 60, keyPrefix: "one", ...options });
  const perMinute = new RateLimiterRedis({ points: 5, duration: 60, keyPrefix: "five", ...options });
  const union = new RateLimiterUnion(perSecond, perMinute);
  const unite = async () => {
    const result = await union.consume("k").then(
      (value) => ["resolved", value],
      (reason) => ["rejected", reason],
    );
    return [
      result[0],
      ...Object.keys(result[1])
        .sort()
        .map((key) => [key, brief(result[1][key])]),
    ];
  };
  tell("a union", await unite(), await unite());

  const bursty = new BurstyRateLimiter(
    new RateLimiterRedis({ points: 1, duration: 60, keyPrefix: "steady", ...options }),
    new RateLimiterRedis({ points: 1, duration: 60, keyPrefix: "burst", ...options }),
  );
  tell(
    "a burst",
    await outcome(bursty.consume("k")),
    await outcome(bursty.consume("k")),
    await outcome(bursty.consume("k")),
  );

  const queue = new RateLimiterQueue(new RateLimiterRedis({ points: 2, duration: 1, keyPrefix: "queue", ...options }), {
    maxQueueSize: 1,
  });
  const waiting = [0, 1, 2].map(() => queue.removeTokens(1, "k"));
  await Promise.all(waiting.slice(0, 2));
  tell("a queue", (await attempt(queue.removeTokens(3, "k"))).message, typeof (await waiting[2]));
}

run(async () => {
  const io = ioredis();
  await flow("ioredis", { storeClient: io }, 120);
  await flow("node-redis", { storeClient: await nodeRedis(), useRedisPackage: true }, 120);
  await combined({ storeClient: io });
  const insurance = new limiters.RateLimiterMemory({ points: 1, duration: 60 });
  const cut = ioredis({ enableOfflineQueue: false, retryStrategy: null });
  await cut.ping().catch(() => {});
  cut.disconnect();
  const insured = new RateLimiterRedis({ storeClient: cut, points: 5, duration: 60, insuranceLimiter: insurance });
  tell("without a server", await outcome(insured.consume("k")), await outcome(insured.consume("k")));
});
