"use strict";
// A process with one worker of BullMQ. Arguments: port, password, the queue, and the worker's options as JSON.
const { Worker, UnrecoverableError } = require("bullmq");
const { LOGIN } = require("./connections.js");

const [queue, options] = process.argv.slice(4);
const connection = { ...LOGIN, maxRetriesPerRequest: null };

const WORK = {
  double: async (job) => job.data.n * 2,
  named: async (job) => job.data.name,
  progress: async (job) => {
    await job.log("begun");
    await job.updateProgress(50);
    await job.updateProgress({ part: "second" });
    await job.updateData({ ...job.data, seen: true });
    await job.log("done");
    return "progressed";
  },
  fails: async (job) => {
    if (job.attemptsMade < job.data.times) throw new Error(`attempt ${job.attemptsMade}`);
    return "at last";
  },
  hopeless: async () => {
    throw new UnrecoverableError("never");
  },
  sums: async (job) => Object.values(await job.getChildrenValues()).reduce((sum, value) => sum + value, 0),
  // The first worker never finishes this job; the worker that takes it over does.
  hangs: async (job) => (job.stalledCounter === 0 ? new Promise(() => {}) : "by another"),
};

const worker = new Worker(queue, (job) => WORK[job.name](job), { connection, ...JSON.parse(options) });
worker.on("error", (error) => console.error(error));
worker.on("stalled", (id) => console.error(`stalled: ${id}`));
worker.waitUntilReady().then(() => process.send("ready"));
process.on("message", async () => {
  await worker.close();
  process.exit(0);
});
