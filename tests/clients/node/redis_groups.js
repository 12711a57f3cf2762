"use strict";
// node-redis, in RESP3: consumer groups of streams. Arguments: port, password.
const { createClient } = require("redis");
const { tell, attempt, eventually, run } = require("./transcript.js");

const [port, password] = process.argv.slice(2);

async function connected() {
  const client = createClient({ RESP: 3, socket: { port: Number(port) }, username: "default", password });
  client.on("error", () => {});
  return client.connect();
}

const withoutTimes = (pending) => pending.map(({ id, consumer, deliveriesCounter }) => [id, consumer, deliveriesCounter]);

run(async () => {
  const r = await connected();
  const made = [await r.xGroupCreate("s", "g", "0", { MKSTREAM: true }), await attempt(r.xGroupCreate("s", "g", "0"))];
  made.push(await attempt(r.xGroupCreate("missing", "g", "$")), await r.xGroupCreateConsumer("s", "g", "idle"));
  tell("makes groups", ...made, await r.xGroupDelConsumer("s", "g", "idle"));

  for (let number = 1; number <= 6; ++number) await r.xAdd("s", `${number}-0`, { task: String(number) });
  const read = (consumer, id, options) => r.xReadGroup("g", consumer, { key: "s", id }, options);
  const delivered = [await read("a", ">", { COUNT: 2 }), await read("b", ">", { COUNT: 3 }), await read("a", "0")];
  delivered.push(await read("a", "1-0", { COUNT: 1 }), await read("c", ">", { NOACK: true }));
  tell("delivers", ...delivered, await read("c", ">"));

  const pending = [await r.xPending("s", "g"), withoutTimes(await r.xPendingRange("s", "g", "-", "+", 10))];
  pending.push(withoutTimes(await r.xPendingRange("s", "g", "(3-0", "+", 10, { consumer: "b" })));
  tell("tells what is pending", ...pending, await r.xPendingRange("s", "g", "-", "+", 10, { IDLE: 1_000_000 }));

  tell("acknowledges", await r.xAck("s", "g", ["1-0", "1-0", "9-0"]), await r.xAck("s", "none", "1-0"), await r.xPending("s", "g"));

  const claimed = [await r.xClaim("s", "g", "c", 0, ["2-0", "9-0"]), await r.xClaimJustId("s", "g", "c", 0, "3-0")];
  claimed.push(await r.xClaim("s", "g", "c", 1_000_000, "4-0"), await r.xClaim("s", "g", "c", 0, "1-0", { FORCE: true }));
  await r.xDel("s", "4-0");
  claimed.push(await r.xAutoClaim("s", "g", "d", 0, "0", { COUNT: 2 }), await r.xAutoClaim("s", "g", "d", 0, "3-0"));
  tell("claims", ...claimed, await r.xAutoClaimJustId("s", "g", "e", 0, "0"));

  const consumers = (await r.xInfoConsumers("s", "g")).map((consumer) => [consumer.name, consumer.pending]);
  tell("tells about groups", await r.xInfoGroups("s"), consumers);

  const other = await connected();
  const wait = () => other.xReadGroup("g", "w", { key: "s", id: ">" }, { BLOCK: 20_000 });
  const parked = () => eventually(() => r.info("clients"), (text) => text.includes("blocked_clients:1"), "nobody waits");
  let answer = attempt(wait());
  await parked();
  await r.xAdd("s", "7-0", { task: "7" });
  tell("waits for entries", await answer, await other.xReadGroup("g", "w", { key: "s", id: ">" }, { BLOCK: 10 }));

  answer = attempt(wait());
  await parked();
  await r.xGroupDestroy("s", "g");
  const code = (await answer).message.split(" ")[0]; // the words after the code are others since Redis 7.2
  tell("is told that the group has gone", code, await attempt(other.xReadGroup("g", "w", { key: "s", id: ">" })));
});
