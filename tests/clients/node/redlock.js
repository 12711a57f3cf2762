"use strict";
// redlock over ioredis: locks of one and of three servers. Arguments: port, password.
const { default: Redlock } = require("redlock");
const { ioredis } = require("./connections.js");
const { tell, attempt, eventually, run } = require("./transcript.js");

const MINUTE_MS = 60_000;
// Settings: one attempt, or many at short intervals.
const ONCE = { retryCount: 0 };
const PATIENT = { retryCount: 1000, retryDelay: 5, retryJitter: 0 };

// For each attempt: how many servers voted for it, and the errors of those against it.
async function votes(attempts) {
  const all = await Promise.all(attempts);
  return all.map((stats) => [
    stats.votesFor.size,
    [...stats.votesAgainst.values()].map((error) => `${error.name}: ${error.message}`),
  ]);
}

async function outcome(promise) {
  const result = await attempt(promise);
  const name = result instanceof Error ? `${result.name}: ${result.message}` : "done";
  return [name, await votes(result.attempts)];
}

async function oneServer(r, redlock) {
  const lock = await redlock.acquire(["a"], MINUTE_MS, ONCE);
  const left = await r.pttl("a");
  tell("acquires", (await r.get("a")) === lock.value, left > 0 && left <= MINUTE_MS, await votes(lock.attempts));
  tell("meets a held lock", await outcome(redlock.acquire(["a"], MINUTE_MS, ONCE)));

  const extended = await lock.extend(2 * MINUTE_MS);
  tell("extends", (await r.pttl("a")) > MINUTE_MS, extended.value === lock.value, await votes(extended.attempts));

  const waiter = redlock.acquire(["a"], MINUTE_MS, PATIENT);
  // Wait until the waiter has been refused at least once.
  await eventually(
    () => r.info("commandstats"),
    (text) => Number(/cmdstat_evalsha:calls=(\d+)/.exec(text)[1]) > 6,
    "no waiter",
  );
  const released = await outcome(extended.release());
  const second = await waiter;
  tell("releases, and the waiter acquires", released, (await r.get("a")) === second.value, second.attempts.length > 1);

  await r.set("a", "another's");
  tell(
    "meets a lost lock",
    await outcome(second.extend(MINUTE_MS, ONCE)),
    await outcome(redlock.release(second, ONCE)),
  );
  tell("leaves another's lock", await r.get("a"), await r.del("a"));

  await redlock.acquire(["a"], 50, ONCE);
  await (await redlock.acquire(["a"], MINUTE_MS, PATIENT)).release();
  tell("acquires after an expiry", await r.exists("a"));

  const several = await redlock.acquire(["a", "b", "c"], MINUTE_MS, ONCE);
  const refused = await outcome(redlock.acquire(["c", "d"], MINUTE_MS, ONCE));
  tell(
    "locks several",
    await r.exists("a", "b", "c", "d"),
    refused,
    await outcome(several.release()),
    await r.exists("a", "b", "c"),
  );
}

async function automatic(r, redlock) {
  const extendedTo = await redlock.using(["u"], 600, { automaticExtensionThreshold: 400 }, async (signal) => {
    const before = await r.get("u");
    // The remaining time grows only if the lock is extended.
    let last = await r.pttl("u");
    await eventually(
      () => r.pttl("u"),
      (left) => left > last || ((last = left), false),
      "no extension",
    );
    return [before === (await r.get("u")), signal.aborted];
  });
  tell("extends by itself", extendedTo, await r.exists("u"));

  const lost = await redlock
    .using(["u"], 600, { automaticExtensionThreshold: 400 }, async (signal) => {
      await r.set("u", "another's");
      await eventually(
        async () => signal.aborted,
        (aborted) => aborted,
        "no abort",
      );
      return `${signal.error.name}: ${signal.error.message}`;
    })
    .catch((error) => `${error.name}: ${error.message}`);
  tell("is told of a loss", lost, await r.get("u"));
}

// Three databases stand for three servers.
async function threeServers(all) {
  const redlock = new Redlock(all, ONCE);
  const lock = await redlock.acquire(["q"], MINUTE_MS);
  const held = [await votes(lock.attempts), await outcome(lock.release())];
  await all[0].set("q", "another's");
  const majority = await redlock.acquire(["q"], MINUTE_MS);
  held.push(await votes(majority.attempts), await outcome(majority.release()));
  await all[1].set("q", "another's");
  tell("needs two of three", ...held, await outcome(redlock.acquire(["q"], MINUTE_MS)), await all[2].exists("q"));
}

run(async () => {
  const all = [0, 1, 2].map((db) => ioredis({ db }));
  const redlock = new Redlock(all.slice(0, 1), { ...PATIENT, retryCount: 3 });
  await all[0].script("FLUSH");
  await oneServer(all[0], redlock);
  await automatic(all[0], redlock);
  await threeServers(all);
});
