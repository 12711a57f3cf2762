"use strict";
// Cache-aside with TAKE, by node-redis: of all callers that miss a key at once, one computes its value, the others get it.
// A waiting caller needs a connection of its own, so the calls go through a pool.
//
//     node scripts/examples/cache_aside.js [redis://:password@host:port]     (or the variable REDIS_URL)

const LEASE_MS = "30000"; // longer than any computation takes
const WAIT_MS = "5000";
const CALLERS = 50;
const CONNECTIONS = 10; // fewer than callers, as in a program with a bounded pool

// Resolves to the value of `key`; if the value is missing, calls compute() and keeps the result for `ttlS` seconds. For the
// same time after the deadline, callers get the old value while one of them computes the new one. The function keeps one
// connection of the pool from TAKE to SET: otherwise waiting callers may take all connections, and none is left for SET.
function cached(pool, key, ttlS, compute) {
  return pool.execute(async (client) => {
    const take = ["TAKE", key, "LEASE", LEASE_MS, "WAIT", WAIT_MS];
    let status, found, token;
    do {
      [status, found, token] = await client.sendCommand(take);
      status = String(status); // a Buffer, if the client was made so
    } while (status === "BUSY"); // the computation still goes on
    if (status !== "LEASE") return found;
    try {
      const value = await compute();
      const times = ["EX", String(ttlS), "STALE", String(ttlS)];
      await client.sendCommand(["SET", key, value, ...times, "IFLEASE", token]);
      return value;
    } catch (error) {
      // Whatever ends the function ends the lease: the pool keeps the connection open. Waiting callers get this error.
      await client.sendCommand(["UNLEASE", key, token, "ERR", String(error.message)]);
      throw error;
    }
  });
}

async function main() {
  const { createClientPool } = require("redis");
  const url = process.argv[2] || process.env.REDIS_URL || "redis://127.0.0.1:6379";
  const pool = createClientPool({ url }, { minimum: 1, maximum: CONNECTIONS, acquireTimeout: 30_000 });
  await pool.connect();
  let calls = 0;
  const page = async () => {
    ++calls;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return "<h1>Hello</h1>";
  };
  const values = await Promise.all(Array.from({ length: CALLERS }, () => cached(pool, "page:home", 60, page)));
  console.log(`${CALLERS} callers, ${CONNECTIONS} connections, computed ${calls} times: ${values[CALLERS - 1]}`);
  await pool.close();
}

module.exports = { cached };
if (require.main === module) main();
