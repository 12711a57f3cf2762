"use strict";
// cache-manager over keyv and @keyv/redis, alone and under a cache in memory. Arguments: port, password.
const { createCache } = require("cache-manager");
const { Keyv } = require("keyv");
const { createKeyv } = require("@keyv/redis");
const { nodeRedis, url } = require("./connections.js");
const { tell, attempt, eventually, run } = require("./transcript.js");

const MINUTE_MS = 60_000;

async function alone(r) {
  const cache = createCache({ stores: [createKeyv(url(), { namespace: "alone" })], ttl: MINUTE_MS });
  const events = [];
  for (const event of ["set", "del", "clear", "refresh"])
    cache.on(event, (told) => events.push([event, told?.key, told?.error]));
  const saw = [
    await cache.get("a"),
    await cache.set("a", { deep: [1, null] }),
    await cache.get("a"),
    await cache.set("n", 1, 2 * MINUTE_MS),
  ];
  const ends = await cache.ttl("a");
  saw.push(
    ends > Date.now() && ends <= Date.now() + MINUTE_MS,
    await cache.ttl("missing"),
    await cache.del("a"),
    await cache.get("a"),
  );
  tell("sets, gets and deletes", ...saw);

  const many = [
    await cache.mset([
      { key: "x", value: 1 },
      { key: "y", value: [2] },
    ]),
    await cache.mget(["x", "missing", "y"]),
  ];
  tell("many at once", ...many, await cache.mdel(["x", "y", "missing"]), await cache.mget(["x", "y"]));

  await cache.set("short", "v", 100);
  const before = await cache.get("short");
  await eventually(
    () => r.keys("*short"),
    (keys) => keys.length === 0,
    "no expiry",
  );
  tell("lets expire", before, await cache.get("short"));

  let calls = 0;
  const work = async () => ({ calls: ++calls });
  const wrapped = [await cache.wrap("w", work), await cache.wrap("w", work)];
  wrapped.push(await Promise.all([1, 2, 3].map(() => cache.wrap("together", work))), calls);
  tell(
    "wraps",
    ...wrapped,
    await attempt(
      cache.wrap("fails", async () => {
        throw new Error("no value");
      }),
    ),
    await cache.get("fails"),
  );

  // A value that expires soon is returned once more and is refreshed in the background.
  const refreshing = { ttl: 5000, refreshThreshold: 10_000 };
  const first = await cache.wrap("r", work, refreshing);
  const second = await cache.wrap("r", work, refreshing);
  const third = await eventually(
    () => cache.get("r"),
    (value) => value.calls > first.calls,
    "no refresh",
  );
  tell("refreshes", first, second, third);

  tell("clears", await cache.clear(), await cache.get("n"), await r.dbSize(), events);
}

async function tiers() {
  const second = createKeyv(url(), { namespace: "second" });
  const cache = createCache({ stores: [new Keyv(), second], nonBlocking: false });
  await cache.set("a", 1, MINUTE_MS);
  await second.set("b", 2, MINUTE_MS);
  const saw = [await cache.get("a"), await second.get("a"), await cache.get("b")];
  await second.delete("a");
  tell(
    "two tiers",
    ...saw,
    await cache.get("a"),
    await cache.mget(["a", "b", "c"]),
    await cache.clear(),
    await second.get("b"),
  );
}

run(async () => {
  const r = await nodeRedis();
  await alone(r);
  await tiers();
});
