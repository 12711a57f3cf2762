"use strict";
// A worker for tests/clients/delayed_tasks.py, by scripts/examples/delayed_tasks.js. Arguments: port, password, the time after
// which a task counts as abandoned, in ms.
const { createClient } = require("redis");
const { work } = require("../../../scripts/examples/delayed_tasks.js");

const [port, password, abandoned] = process.argv.slice(2);

(async () => {
  const client = createClient({ url: `redis://default:${password}@127.0.0.1:${port}` });
  client.on("error", () => {});
  await client.connect();
  const run = async (name, payload, lateMs) => {
    await client.hIncrBy("done", name, 1);
    if (payload !== `payload of ${name}` || lateMs < -1) await client.hSet("wrong", name, `${payload} ${lateMs}`);
  };
  await work(client, run, { abandonedMs: Number(abandoned) });
})();
