"use strict";
// node-resque, which keeps its jobs in the same keys as Resque, and its worker processes. Arguments: port, password.
const { fork } = require("node:child_process");
const path = require("node:path");
const { Queue } = require("node-resque");
const { ioredis } = require("./connections.js");
const { tell, eventually, run, WORKER_STREAMS } = require("./transcript.js");

const HOUR_MS = 3_600_000;

// Starts a worker process. `told` keeps what it reports about jobs.
async function start(name, ...queues) {
  const words = [...process.argv.slice(2), name, ...queues];
  const child = fork(path.join(__dirname, "resque_worker.js"), words, { stdio: WORKER_STREAMS });
  const told = [];
  await new Promise((resolve) => child.once("message", resolve));
  child.on("message", (message) => told.push(message));
  return {
    heard: (of, value) =>
      eventually(async () => told.find(([, , name, what]) => name === of && what === value), Boolean, "not heard"),
    stop: () => new Promise((resolve) => child.once("exit", resolve).send("stop")),
    kill: () => new Promise((resolve) => child.once("exit", resolve).kill("SIGKILL")),
  };
}

// The names of the jobs that ran, once there are `count`.
function ran(r, count) {
  return eventually(
    () => r.lrange("ran", 0, -1),
    (all) => all.length >= count,
    `no ${count} jobs`,
  );
}

async function plain(queue, r) {
  await queue.enqueue("low", "named", ["a"]);
  await queue.enqueue("high", "named", ["b"]);
  await queue.enqueue("low", "add", [1, 2]);
  await queue.enqueue("low", "named", ["c"]);
  for (const word of ["removed", "removed"]) await queue.enqueue("low", "named", [word]);
  const saw = [await queue.length("low"), await queue.queued("low", 0, -1), (await queue.queues()).sort()];
  tell("enqueues", ...saw, await queue.del("low", "named", ["removed"]), await queue.length("low"));

  const worker = await start("one", "high", "low");
  await ran(r, 3);
  await eventually(
    () => queue.stats(),
    (stats) => stats.processed === "4",
    "no 4 jobs counted",
  );
  tell("works", await ran(r, 3), await queue.length("low"), await queue.workers(), await queue.stats());
  await queue.enqueue("high", "add", [20, 22]);
  tell("tells of results", await worker.heard("add", 42));
  return worker;
}

async function times(queue, r) {
  const at = Date.now() + HOUR_MS;
  await queue.enqueueAt(at, "low", "named", ["never"]);
  await queue.enqueueIn(2 * HOUR_MS, "low", "named", ["never"]);
  const stamps = await queue.timestamps();
  const saw = [
    stamps.length,
    (await queue.scheduledAt("low", "named", ["never"])).length,
    (await queue.delayedAt(stamps[0])).tasks,
  ];
  saw.push(Object.keys(await queue.allDelayed()).length, (await queue.delDelayed("low", "named", ["never"])).length);
  await queue.enqueueIn(1000, "low", "named", ["later"]);
  tell("schedules", ...saw, (await ran(r, 4)).pop(), await queue.leader());
}

async function failures(queue, r) {
  await queue.enqueue("low", "fails", ["twice"]);
  await eventually(
    () => queue.failedCount(),
    (count) => count === 1,
    "no failure",
  );
  const [failed] = await queue.failed(0, -1);
  const saw = [failed.exception, failed.error, failed.queue, failed.worker, failed.payload];
  await queue.retryAndRemoveFailed(failed);
  tell("fails, and is retried by hand", ...saw, (await ran(r, 5)).pop(), await queue.failedCount());

  await queue.enqueue("low", "retried", ["again"]);
  const again = (await ran(r, 6)).pop();
  const left = await eventually(
    () => queue.timestamps(),
    (stamps) => stamps.length === 0,
    "a time is left",
  );
  tell("tries again", again, left, await queue.failedCount(), (await queue.stats()).failed);
  await queue.enqueue("low", "nothing");
  await eventually(
    () => queue.failedCount(),
    (count) => count === 1,
    "no failure",
  );
  const [unknown] = await queue.failed(0, -1);
  tell("knows no such job", unknown.error, await queue.removeFailed(unknown), await queue.failedCount());
}

async function locks(queue, r, worker) {
  await queue.enqueue("low", "locked", ["held"]);
  await ran(r, 7);
  const working = Object.values(await queue.allWorkingOn()).map((job) => job.payload);
  const other = await start("two", "low");
  await queue.enqueue("low", "locked", ["held"]);
  const locksHeld = await eventually(
    () => queue.length("low").then(() => queue.locks()),
    (all) => Object.keys(all).length > 0,
    "no lock",
  );
  await eventually(
    () => queue.length("low"),
    (length) => length === 0,
    "still waiting",
  );
  tell("one at a time", working, Object.keys(locksHeld), await queue.workers(), (await ran(r, 7)).length);
  await other.stop();
  await worker.kill();
  await queue.forceCleanWorker("one");
  const [lost] = await queue.failed(0, -1);
  tell("is cleaned away", lost.error, lost.payload, await queue.workers(), await queue.failedCount());
}

run(async () => {
  const r = ioredis();
  const queue = new Queue(
    { connection: { redis: ioredis() } },
    { named: {}, add: {}, fails: {}, retried: {}, locked: {} },
  );
  await queue.connect();
  const worker = await plain(queue, r);
  await times(queue, r);
  await failures(queue, r);
  await locks(queue, r, worker);
  await queue.delQueue("low");
  tell("leaves", await queue.queues(), (await queue.stats()).processed, (await r.keys("*")).sort());
  await queue.end();
});
