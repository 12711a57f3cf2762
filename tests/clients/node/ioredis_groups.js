"use strict";
// ioredis: consumer groups of streams. Arguments: port, password.
const Redis = require("ioredis");
const { tell, attempt, eventually, run } = require("./transcript.js");

const [port, password] = process.argv.slice(2);

function connected() {
  const client = new Redis({ port: Number(port), username: "default", password });
  client.on("error", () => {});
  return client;
}

const withoutTimes = (pending) => pending.map(([id, consumer, , count]) => [id, consumer, count]);

run(async () => {
  const r = connected();
  const made = [await r.xgroup("CREATE", "s", "g", "0", "MKSTREAM"), await attempt(r.xgroup("CREATE", "s", "g", "0"))];
  made.push(await attempt(r.xgroup("CREATE", "missing", "g", "$")), await r.xgroup("CREATECONSUMER", "s", "g", "idle"));
  tell("makes groups", ...made, await r.xgroup("DELCONSUMER", "s", "g", "idle"));

  for (let number = 1; number <= 6; ++number) await r.xadd("s", `${number}-0`, "task", number);
  const read = (consumer, id, ...options) => r.xreadgroup("GROUP", "g", consumer, ...options, "STREAMS", "s", id);
  const delivered = [await read("a", ">", "COUNT", 2), await read("b", ">", "COUNT", 3), await read("a", "0")];
  delivered.push(await read("a", "1-0", "COUNT", 1), await read("c", ">", "NOACK"), await read("c", ">"));
  tell("delivers", ...delivered, await r.xreadgroupBuffer("GROUP", "g", "a", "STREAMS", "s", "0"));

  const pending = [await r.xpending("s", "g"), withoutTimes(await r.xpending("s", "g", "-", "+", 10))];
  pending.push(withoutTimes(await r.xpending("s", "g", "(3-0", "+", 10, "b")));
  tell("tells what is pending", ...pending, await r.xpending("s", "g", "IDLE", 1_000_000, "-", "+", 10));

  tell("acknowledges", await r.xack("s", "g", "1-0", "1-0", "9-0"), await r.xack("s", "none", "1-0"), await r.xpending("s", "g"));

  const claimed = [await r.xclaim("s", "g", "c", 0, "2-0", "9-0"), await r.xclaim("s", "g", "c", 0, "3-0", "JUSTID")];
  claimed.push(await r.xclaim("s", "g", "c", 1_000_000, "4-0"), await r.xclaim("s", "g", "c", 0, "1-0", "FORCE"));
  await r.xdel("s", "4-0");
  claimed.push(await r.xautoclaim("s", "g", "d", 0, "0", "COUNT", 2), await r.xautoclaim("s", "g", "d", 0, "3-0"));
  tell("claims", ...claimed, await r.xautoclaim("s", "g", "e", 0, "0", "JUSTID"));

  const consumers = (await r.xinfo("CONSUMERS", "s", "g")).map((fields) => fields.slice(0, 4));
  tell("tells about groups", await r.xinfo("GROUPS", "s"), consumers);

  const other = connected();
  const wait = () => other.xreadgroup("GROUP", "g", "w", "BLOCK", 20_000, "STREAMS", "s", ">");
  let answer = attempt(wait());
  const parked = () => eventually(() => r.info("clients"), (text) => text.includes("blocked_clients:1"), "nobody waits");
  await parked();
  await r.xadd("s", "7-0", "task", 7);
  tell("waits for entries", await answer, await other.xreadgroup("GROUP", "g", "w", "BLOCK", 10, "STREAMS", "s", ">"));

  answer = attempt(wait());
  await parked();
  await r.xgroup("DESTROY", "s", "g");
  const code = (await answer).message.split(" ")[0]; // the words after the code are others since Redis 7.2
  tell("is told that the group has gone", code, await attempt(other.xreadgroup("GROUP", "g", "w", "STREAMS", "s", ">")));
});
