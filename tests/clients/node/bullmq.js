"use strict";
// BullMQ: queues, and their worker processes. Arguments: port, password.
const { fork } = require("node:child_process");
const path = require("node:path");
const { Queue, QueueEvents, FlowProducer } = require("bullmq");
const { LOGIN, ioredis } = require("./connections.js");
const { tell, attempt, eventually, run, WORKER_STREAMS } = require("./transcript.js");

const LIMIT_MS = 10_000;
const connection = { ...LOGIN, maxRetriesPerRequest: null };

// Starts a worker process and waits until it has connected.
async function workerOf(queue, options = {}) {
  const words = [...process.argv.slice(2), queue, JSON.stringify(options)];
  const child = fork(path.join(__dirname, "bullmq_worker.js"), words, { stdio: WORKER_STREAMS });
  await new Promise((resolve) => child.once("message", resolve));
  return {
    stop: () => new Promise((resolve) => child.once("exit", resolve).send("stop")),
    kill: () => new Promise((resolve) => child.once("exit", resolve).kill("SIGKILL")),
  };
}

// A queue and its events. `kept` collects the events as [event, job ID, value].
async function queueOf(name) {
  const queue = new Queue(name, { connection });
  const events = new QueueEvents(name, { connection });
  const kept = [];
  for (const event of [
    "waiting",
    "delayed",
    "active",
    "progress",
    "completed",
    "failed",
    "drained",
    "removed",
    "stalled",
  ]) {
    events.on(event, ({ jobId, returnvalue, failedReason, data }) =>
      kept.push([event, jobId, returnvalue ?? failedReason ?? data]),
    );
  }
  await events.waitUntilReady();
  const ended = (count) =>
    eventually(
      async () => kept.filter(([event]) => event === "completed"),
      (all) => all.length >= count,
      `${name}: no ${count} results`,
    );
  // The result or the error of a job, once it has ended `count` times.
  const end = async (job, count = 1) => {
    const ends = async () =>
      kept.filter(([event, id]) => id === job.id && (event === "completed" || event === "failed"));
    return (await eventually(ends, (all) => all.length >= count, `${name}: no end of ${job.id}`)).pop().slice(2);
  };
  const close = () => Promise.all([queue.close(), events.close()]);
  return { queue, events, kept, ended, end, close };
}

// The state of a job. Of its times it shows only whether they are in order.
async function fate(queue, id) {
  const job = await queue.getJob(id);
  const times =
    job.finishedOn === undefined ? null : job.timestamp <= job.processedOn && job.processedOn <= job.finishedOn;
  return [
    job.name,
    await job.getState(),
    job.data,
    job.returnvalue,
    job.progress,
    job.failedReason,
    job.attemptsMade,
    times,
  ];
}

async function plain() {
  const { queue, events, kept, end, close } = await queueOf("plain");
  const job = await queue.add("double", { n: 21 });
  tell(
    "adds",
    job.id,
    await fate(queue, job.id),
    await queue.getJobCounts(),
    await queue.count(),
    await queue.getWaitingCount(),
  );
  const worker = await workerOf("plain");
  tell(
    "processes",
    await job.waitUntilFinished(events, LIMIT_MS),
    await fate(queue, job.id),
    (await queue.getWorkers()).length,
  );

  const steps = await queue.add("progress", {});
  await end(steps);
  tell(
    "tells of progress",
    await fate(queue, steps.id),
    await queue.getJobLogs(steps.id),
    kept.filter(([, id]) => id === steps.id),
  );

  const jobs = await queue.addBulk([1, 2, 3].map((n) => ({ name: "double", data: { n } })));
  tell("adds many", await Promise.all(jobs.map((one) => end(one))), await queue.getJobCounts());

  const twice = await queue.add("fails", { times: 2 }, { attempts: 3, backoff: { type: "exponential", delay: 20 } });
  const never = await queue.add("fails", { times: 9 }, { attempts: 2, backoff: 10 });
  const hopeless = await queue.add("hopeless", {}, { attempts: 5 });
  const saw = [];
  for (const one of [twice, never, hopeless]) saw.push(await end(one));
  for (const one of [twice, never, hopeless]) saw.push(await fate(queue, one.id));
  const failed = await queue.getFailed();
  tell(
    "fails and tries again",
    ...saw,
    failed.map((one) => [one.id, one.stacktrace.length]).sort(),
    await queue.getJobCounts(),
  );

  await never.updateData({ times: 0 });
  await (await queue.getJob(never.id)).retry();
  tell("is retried by hand", await end(never, 2), await fate(queue, never.id));
  await worker.stop();
  await close();
}

async function orders() {
  const { queue, ended, end, close } = await queueOf("orders");
  const add = (name, options) => queue.add("named", { name }, options);
  await queue.pause();
  await add("least", { priority: 10 });
  await add("first");
  await add("most", { priority: 1 });
  await add("before", { lifo: true });
  const changed = await add("changed", { priority: 5 });
  await changed.changePriority({ priority: 20 });
  const promoted = await add("promoted", { delay: 600_000 });
  const removed = await add("removed");
  await removed.remove();
  tell(
    "pauses",
    await queue.isPaused(),
    await queue.getJobCounts(),
    await queue.getCountsPerPriority([0, 1, 5, 20]),
    await promoted.getState(),
  );
  const worker = await workerOf("orders", { concurrency: 1 });
  const names = async (count) => (await ended(count)).map(([, , name]) => name);
  await queue.resume();
  tell("keeps to priorities", await names(5));
  const delayed = await add("delayed", { delay: 300 });
  await end(delayed);
  const early = (await queue.getJob(delayed.id)).processedOn - delayed.timestamp;
  await promoted.promote();
  tell("delays and promotes", await names(7), early >= 300, await queue.getDelayedCount());

  const once = { deduplication: { id: "same" } };
  await queue.pause();
  const [one, two] = [await add("one", once), await add("two", once)];
  tell(
    "adds once",
    one.id === two.id,
    await queue.getDeduplicationJobId("same"),
    (await add("own id", { jobId: "own" })).id,
    await queue.getJobCounts(),
  );
  await queue.resume();
  await ended(9);
  const short = await add("gone", { removeOnComplete: true });
  await ended(10);
  const done = await queue.getJobs(["completed"], 0, -1, true);
  tell("removes what is done", await queue.getJob(short.id), done.map((job) => job.data.name).sort());
  tell("cleans", (await queue.clean(0, 3, "completed")).length, await queue.getJobCounts());
  await worker.stop();
  await close();
}

async function limited() {
  const { queue, ended, close } = await queueOf("limited");
  const worker = await workerOf("limited", { limiter: { max: 2, duration: 250 }, concurrency: 5 });
  await queue.addBulk([1, 2, 3, 4, 5, 6].map((n) => ({ name: "double", data: { n } })));
  const results = (await ended(6)).map(([, , value]) => value);
  const times = (await queue.getCompleted()).map((job) => job.processedOn);
  tell(
    "limits a rate",
    results.sort((a, b) => a - b),
    Math.max(...times) - Math.min(...times) >= 250,
    (await queue.getRateLimitTtl(2)) <= 250,
  );
  await worker.stop();
  await close();
}

async function flows() {
  const { queue, events, close } = await queueOf("flows");
  const producer = new FlowProducer({ connection });
  const children = [1, 2, 3].map((n) => ({ name: "double", queueName: "children", data: { n } }));
  const tree = await producer.add({ name: "sums", queueName: "flows", children });
  const waits = [await tree.job.getState(), await tree.job.getDependenciesCount()];
  const worker = [await workerOf("flows"), await workerOf("children")];
  const sum = await tree.job.waitUntilFinished(events, LIMIT_MS);
  const values = Object.values(await tree.job.getChildrenValues()).sort();
  tell("waits for children", ...waits, sum, values, await tree.job.getState(), await tree.job.getDependenciesCount());

  const failing = [{ name: "hopeless", queueName: "children", opts: { failParentOnFailure: true } }];
  const broken = await producer.add({ name: "sums", queueName: "flows", children: failing });
  const error = await attempt(broken.job.waitUntilFinished(events, LIMIT_MS));
  tell("fails with a child", error.message.replace(/:\S*(?= failed)/, ""), await broken.job.getState());
  const got = await producer.getFlow({ id: tree.job.id, queueName: "flows" });
  tell("reads a flow", got.job.name, got.children.map((child) => child.job.returnvalue).sort());
  await Promise.all(worker.map((one) => one.stop()));
  await producer.close();
  await close();
}

async function schedules() {
  const { queue, ended, close } = await queueOf("schedules");
  const worker = await workerOf("schedules");
  await queue.upsertJobScheduler("often", { every: 100, limit: 3 }, { name: "named", data: { name: "tick" } });
  await queue.upsertJobScheduler("yearly", { pattern: "0 0 1 1 *" }, { name: "named", data: { name: "year" } });
  const saw = (await queue.getJobSchedulers())
    .map(({ key, name, every, pattern }) => [key, name, String(every), pattern])
    .sort();
  await ended(3);
  tell(
    "repeats",
    saw,
    (await queue.getCompleted()).map((job) => job.returnvalue),
    await queue.getDelayedCount(),
  );
  tell(
    "forgets a schedule",
    await queue.removeJobScheduler("yearly"),
    await queue.removeJobScheduler("yearly"),
    await queue.getDelayedCount(),
  );
  await worker.stop();
  await close();
}

async function deaths(r) {
  const { queue, kept, end, close } = await queueOf("deaths");
  const options = { lockDuration: 400, stalledInterval: 200 };
  const first = await workerOf("deaths", options);
  const job = await queue.add("hangs", {});
  await eventually(
    () => job.getState(),
    (state) => state === "active",
    "not begun",
  );
  const lock = await r.pttl(`bull:deaths:${job.id}:lock`);
  await first.kill();
  const second = await workerOf("deaths", options);
  const result = await end(job);
  tell(
    "outlives a worker",
    lock > 0 && lock <= 400,
    result,
    kept.filter(([event]) => event === "stalled"),
    await r.exists(`bull:deaths:${job.id}:lock`),
  );
  await second.stop();
  await close();
}

// Removes all queues and shows which keys are left.
async function leave(r) {
  const queue = new Queue("plain", { connection });
  await queue.add("double", { n: 1 });
  await queue.drain();
  const drained = await queue.getJobCounts();
  await queue.trimEvents(0);
  for (const name of ["plain", "orders", "limited", "flows", "children", "schedules", "deaths"]) {
    const one = new Queue(name, { connection });
    await one.obliterate({ force: true });
    await one.close();
  }
  tell("drains and obliterates", drained, (await r.keys("*")).sort());
  await queue.close();
}

run(async () => {
  const r = ioredis();
  await plain();
  await orders();
  await limited();
  await flows();
  await schedules();
  await deaths(r);
  await leave(r);
});
