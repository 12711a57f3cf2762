"use strict";
// What the drivers of this folder share: the transcript, and waits with a limit.

const EXPIRES_WITHIN_MS = 10_000;
const WAITS_MS = 60_000;

// A value as JSON that shows its type.
function shown(value) {
  if (value === null || typeof value === "boolean") return value;
  if (value === undefined) return { other: "undefined" };
  if (typeof value === "number") return Number.isInteger(value) ? value : { float: String(value) };
  if (typeof value === "bigint") return { bigint: String(value) };
  if (typeof value === "string") return { text: value };
  if (Buffer.isBuffer(value)) return { bytes: value.toString("latin1") };
  if (value instanceof Error) return { error: value.constructor.name, text: value.message };
  if (Array.isArray(value)) return value.map(shown);
  if (value instanceof Map) return { Map: [...value].map(shown) };
  return { map: Object.keys(value).sort().map((key) => [key, shown(value[key])]) };
}

function tell(step, ...values) {
  process.stdout.write(JSON.stringify({ step, saw: shown(values) }) + "\n");
}

// The value of a promise, or the error that it ends with.
function attempt(promise) {
  return promise.catch((error) => error);
}

function expect(truth, text) {
  if (!truth) throw new Error(text);
}

// Calls until the answer is the wanted one, for a bounded time.
async function until(call, wanted, text) {
  const end = Date.now() + EXPIRES_WITHIN_MS;
  for (;;) {
    const value = await attempt(call());
    if (value === wanted) return value;
    expect(Date.now() < end, `${text}: ${value}`);
  }
}

// Repeats a call, with short pauses, until `accepts` is true of its result, and returns that. Fails after WAITS_MS.
async function eventually(call, accepts, text) {
  const end = Date.now() + WAITS_MS;
  for (;;) {
    const value = await attempt(call());
    if (accepts(value)) return value;
    expect(Date.now() < end, `${text}: ${JSON.stringify(shown(value))}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

// Asks for what the suite does to servers, and waits for the line that tells of its end.
function asked(request) {
  process.stdout.write(JSON.stringify({ [request]: true }) + "\n");
  return new Promise((resolve) => process.stdin.once("data", resolve));
}
const restarted = () => asked("restart");
const killed = () => asked("kill");

// Runs the steps; an error that they let out is the driver's end.
function run(main) {
  main().then(
    () => process.exit(0),
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
}

// The streams of a worker process. Standard output is the transcript, so only the driver may write to it.
const WORKER_STREAMS = ["ignore", 2, 2, "ipc"];

const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const LARGE = Buffer.from(Array.from({ length: 1_000_000 }, (_, number) => (number * 7) % 251));

function scanKeys() {
  return Array.from({ length: 300 }, (_, number) => "scan:" + String(number).padStart(3, "0"));
}

module.exports = {
  shown,
  tell,
  attempt,
  expect,
  until,
  eventually,
  restarted,
  killed,
  run,
  WORKER_STREAMS,
  EVERY_BYTE,
  LARGE,
  scanKeys,
};
