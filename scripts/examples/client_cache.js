"use strict";
// Client-side caching by tracking, by node-redis: what was read once is answered from this process's own memory until the
// server says that it has changed.
//
//     node scripts/examples/client_cache.js [redis://:password@host:port]     (or the variable REDIS_URL)

// A client whose reads are kept here: RESP3 brings the server's messages on the same connection.
function caching(url) {
  const { createClient } = require("redis");
  const clientSideCache = { maxEntries: 10_000, ttl: 60_000, evictPolicy: "LRU" };
  return createClient({ url, RESP: 3, clientSideCache });
}

async function main() {
  const url = process.argv[2] || process.env.REDIS_URL || "redis://127.0.0.1:6379";
  const reader = await caching(url).connect();
  const writer = await caching(url).connect();
  const asked = async () => Number(/cmdstat_get:calls=(\d+)/.exec(await writer.info("commandstats"))?.[1] ?? 0);

  await writer.set("page", "old");
  const before = await asked();
  for (let i = 0; i < 1000; ++i) await reader.get("page");
  console.log(`1000 reads of ${await reader.get("page")}, of which the server saw ${(await asked()) - before}`);
  await writer.set("page", "new");
  while ((await reader.get("page")) !== "new"); // the message is on its way
  console.log(`after a change elsewhere: ${await reader.get("page")}`);
  reader.destroy();
  writer.destroy();
}

module.exports = { caching };
if (require.main === module) main();
