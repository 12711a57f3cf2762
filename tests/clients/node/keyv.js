"use strict";
// keyv over @keyv/redis. Arguments: port, password.
const { default: Keyv } = require("keyv");
const { default: KeyvRedis, createKeyv, createKeyvNonBlocking } = require("@keyv/redis");
const { nodeRedis, url } = require("./connections.js");
const { tell, attempt, eventually, run } = require("./transcript.js");

const MINUTE_MS = 60_000;

async function collected(iterator) {
  const found = [];
  for await (const pair of iterator) found.push(pair);
  return found.sort();
}

async function flow(name, keyv, r) {
  const seen = [];
  keyv.on("error", (error) => seen.push(error));
  const saw = [
    await keyv.get("a"),
    await keyv.set("a", { deep: [1, null, "ü"] }),
    await keyv.get("a"),
    await keyv.get("a", { raw: true }),
  ];
  saw.push(
    await keyv.set("n", 0),
    await keyv.get("n"),
    await keyv.set("a", "b"),
    await keyv.get("a"),
    await keyv.has("a"),
  );
  tell(
    `${name}: sets and gets`,
    ...saw,
    await keyv.has("missing"),
    await keyv.delete("a"),
    await keyv.delete("a"),
    await keyv.get("a"),
  );

  await keyv.set("long", "v", MINUTE_MS);
  const left = Math.max(...(await Promise.all((await r.keys("*long")).map((key) => r.pTTL(key)))));
  await keyv.set("short", "v", 100);
  const before = await keyv.get("short");
  await eventually(
    () => r.keys("*short"),
    (keys) => keys.length === 0,
    "no expiry",
  );
  tell(`${name}: lets expire`, left > 0 && left <= MINUTE_MS, before, await keyv.get("short"), await keyv.has("short"));

  const entries = Array.from({ length: 200 }, (_, number) => ({ key: `m:${number}`, value: number, ttl: MINUTE_MS }));
  const many = [
    await keyv.setMany(entries),
    await keyv.getMany(["m:1", "missing", "m:199"]),
    await keyv.hasMany(["m:1", "missing"]),
  ];
  many.push(await keyv.get(["m:2", "m:3"]), await keyv.deleteMany(["m:1", "m:2"]), await keyv.deleteMany(["missing"]));
  tell(`${name}: many at once`, ...many, await keyv.getMany(["m:1", "m:3"]));

  const iterator = keyv.iterator?.() ?? keyv.store.iterator(keyv.namespace);
  tell(`${name}: iterates`, await collected(iterator));
  await keyv.clear();
  tell(`${name}: clears`, await keyv.get("m:3"), await r.dbSize(), seen);
}

run(async () => {
  const r = await nodeRedis();
  await flow("a namespace", new Keyv(new KeyvRedis(url()), { namespace: "first" }), r);
  const other = await nodeRedis();
  await other.set("kept", "by another");
  await flow(
    "with UNLINK off",
    new Keyv({ store: new KeyvRedis(other, { useUnlink: false }), namespace: "n", useKeyPrefix: false }),
    r,
  );
  await r.flushDb();
  await flow("no namespace", createKeyv(url(), { noNamespaceAffectsAll: true }), r);
  const [one, two] = ["one", "two"].map((namespace) => createKeyv(url(), { namespace }));
  await Promise.all([one.set("k", 1), two.set("k", 2)]);
  await one.clear();
  tell("namespaces apart", await one.get("k"), await two.get("k"));
  const throwing = createKeyv(url(), { namespace: "three", throwOnErrors: true });
  throwing.on("error", () => {});
  await throwing.set("k", "v");
  const [key] = await r.keys("three*");
  await r.del(key);
  await r.lPush(key, "v");
  tell("meets an error", await attempt(throwing.get("k")));
  const swift = createKeyvNonBlocking(url(1));
  swift.on("error", () => {});
  tell(
    "another database",
    await eventually(
      async () => (await swift.set("k", "v"), swift.get("k")),
      (value) => value === "v",
      "no value",
    ),
  );
});
