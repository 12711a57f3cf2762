"use strict";
// A process with a worker and a scheduler of node-resque. Arguments: port, password, the worker's name, its queues.
const { Worker, Scheduler } = require("node-resque");
const { ioredis } = require("./connections.js");

const [name, ...queues] = process.argv.slice(4);
const POLL_MS = 20;
const connection = { redis: ioredis() };

const jobs = {
  add: { perform: async (a, b) => a + b },
  named: { perform: async (word) => void (await connection.redis.rpush("ran", word)) },
  fails: {
    perform: async (word) => {
      if ((await connection.redis.incr(`tries:${word}`)) < 2) throw new Error(`no ${word}`);
      await connection.redis.rpush("ran", word);
    },
  },
  retried: {
    plugins: ["Retry"],
    pluginOptions: { Retry: { retryLimit: 2, retryDelay: 1 } },
    perform: async (word) => jobs.fails.perform(word),
  },
  locked: {
    plugins: ["JobLock"],
    pluginOptions: { JobLock: { reEnqueue: false } },
    perform: async (word) => {
      await connection.redis.rpush("ran", word);
      await connection.redis.duplicate().blpop("go on", 0);
    },
  },
};

const worker = new Worker({ connection, queues, name, timeout: POLL_MS }, jobs);
const scheduler = new Scheduler({ connection, name, timeout: POLL_MS, stuckWorkerTimeout: false }, jobs);
for (const one of [worker, scheduler]) one.on("error", (error) => console.error(error));
worker.on("success", (queue, job, result) => process.send(["success", queue, job.class, result ?? null]));
worker.on("failure", (queue, job, error) => process.send(["failure", queue, job.class, error.message]));

async function main() {
  await Promise.all([worker.connect(), scheduler.connect()]);
  await Promise.all([worker.start(), scheduler.start()]);
  process.send("ready");
}

process.on("message", async () => {
  await Promise.all([worker.end(), scheduler.end()]);
  process.exit(0);
});
main();
