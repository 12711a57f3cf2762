"use strict";
// Cache-aside with TAKE, by node-redis: of all callers that miss a key at once, one computes its value, the others get it.
// Who waits needs a connection of its own, so the calls go through a pool.
//
//     node scripts/examples/cache_aside.js [redis://:password@host:port]     (or the variable REDIS_URL)

const LEASE_MS = "30000"; // longer than any computation takes: the end of its connection ends a lease, too
const WAIT_MS = "5000";

// The value of `key`; if there is none, what compute() resolves to, kept for `ttlS` seconds. For as long again the old value
// is there for those who come while one computes the new one.
async function cached(pool, key, ttlS, compute) {
  const take = ["TAKE", key, "LEASE", LEASE_MS, "WAIT", WAIT_MS];
  let status, found, token;
  do {
    [status, found, token] = await pool.execute((client) => client.sendCommand(take));
    status = String(status); // a Buffer, if the client was made so
  } while (status === "BUSY"); // the computation still goes on
  if (status !== "LEASE") return found;
  try {
    const value = await compute();
    const times = ["EX", String(ttlS), "STALE", String(ttlS)];
    await pool.execute((client) => client.sendCommand(["SET", key, value, ...times, "IFLEASE", token]));
    return value;
  } catch (error) {
    const sorry = ["UNLEASE", key, token, "ERR", String(error.message).slice(0, 1000)]; // who waits gets this error
    await pool.execute((client) => client.sendCommand(sorry));
    throw error;
  }
}

async function main() {
  const { createClientPool } = require("redis");
  const url = process.argv[2] || process.env.REDIS_URL || "redis://127.0.0.1:6379";
  const pool = createClientPool({ url }, { minimum: 1, maximum: 50 });
  await pool.connect();
  let calls = 0;
  const page = async () => {
    ++calls;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return "<h1>Hello</h1>";
  };
  const values = await Promise.all(Array.from({ length: 50 }, () => cached(pool, "page:home", 60, page)));
  console.log(`50 callers, computed ${calls} times: ${values[49]}`);
  await pool.close();
}

module.exports = { cached };
if (require.main === module) main();
