"use strict";
// Delayed tasks, by node-redis: a task is a key that goes into a stream at its deadline, and each goes to one worker.
//
//     node scripts/examples/delayed_tasks.js work                          as many workers as you like
//     node scripts/examples/delayed_tasks.js later mail:7 "to ann" 1.5     in 1.5 seconds
//
// The variable REDIS_URL says where: redis://:password@host:port.

const os = require("os");

// Runs the task in `seconds`; under a name that waits already it replaces that task, and client.del(name) ends it.
const later = (client, name, payload, seconds, stream = "jobs") =>
  client.sendCommand(["SET", name, payload, "PX", String(Math.round(seconds * 1000)), "INTO", stream]);

// Calls run(name, payload, lateMs) for each task. One that ends no run within `abandonedMs` goes to another worker.
async function work(client, run, { stream = "jobs", group = "workers", abandonedMs = 60000, ends = () => false } = {}) {
  const me = `${os.hostname()}-${process.pid}`;
  await client.xGroupCreate(stream, group, "0", { MKSTREAM: true }).catch((error) => {
    if (!error.message.startsWith("BUSYGROUP")) throw error;
  });
  while (!ends()) {
    let tasks = (await client.xAutoClaim(stream, group, me, abandonedMs, "0", { COUNT: 1 })).messages;
    if (tasks.length === 0) {
      const replies = await client.xReadGroup(group, me, { key: stream, id: ">" }, { COUNT: 1, BLOCK: 1000 });
      tasks = replies ? replies[0].messages : [];
    }
    for (const { id, message } of tasks) {
      await run(message.key, message.value, Date.now() - Number(message.due));
      await client.sendCommand(["XACKDEL", stream, group, "IDS", "1", id]);
    }
  }
}

async function main() {
  const { createClient } = require("redis");
  const [what, name, payload, seconds] = process.argv.slice(2);
  const client = createClient({ url: process.env.REDIS_URL || "redis://127.0.0.1:6379" });
  await client.connect();
  if (what === "later") await later(client, name, payload, Number(seconds));
  else await work(client, async (task, value, lateMs) => console.log(task, value, `${lateMs} ms late`));
  client.destroy();
}

module.exports = { later, work };
if (require.main === module) main();
