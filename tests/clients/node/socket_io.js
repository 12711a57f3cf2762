"use strict";
// @socket.io/redis-adapter: two socket.io servers, each with clients, connected through Redis. Arguments: port, password.
const { createServer } = require("node:http");
const { Server } = require("socket.io");
const { io: connect } = require("socket.io-client");
const { createAdapter, createShardedAdapter } = require("@socket.io/redis-adapter");
const { ioredis, nodeRedis } = require("./connections.js");
const { tell, eventually, run } = require("./transcript.js");

const LIMIT_MS = 5000;

function within(promise, text) {
  let timer;
  const late = new Promise((resolve, reject) => (timer = setTimeout(() => reject(new Error(text)), LIMIT_MS)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// A socket.io server on a free port.
async function server(adapter, name) {
  const http = createServer();
  const io = new Server(http, { adapter, transports: ["websocket"] });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  io.on("connection", (socket) => {
    socket.data = { name: socket.handshake.query.name, at: name };
    socket.on("join", (room, done) => Promise.resolve(socket.join(room)).then(done));
    socket.on("to others", (text) => socket.broadcast.emit("news", text));
    socket.on("who", (done) => done(socket.data.name));
  });
  return { io, port: http.address().port };
}

// A client that keeps the messages that it receives.
async function client(at, name) {
  const socket = connect(`http://127.0.0.1:${at.port}`, { query: { name }, transports: ["websocket"], forceNew: true });
  const heard = [];
  socket.on("news", (...words) => heard.push(words));
  socket.on("question", (text, answer) => answer(`${name}: ${text}`));
  await within(new Promise((resolve) => socket.once("connect", resolve)), "no connection");
  return { socket, name, heard, join: (room) => within(socket.emitWithAck("join", room), "no room") };
}

// The messages of each client, once there are `count` in all. Empties the lists.
async function heard(clients, count, text) {
  await eventually(
    async () => clients.reduce((sum, one) => sum + one.heard.length, 0),
    (sum) => sum >= count,
    text,
  );
  return clients.map((one) => [one.name, one.heard.splice(0)]);
}

async function rooms([first, second], clients, name) {
  const [ann, bob, cid, dan] = clients;
  first.io.emit("news", "all", { deep: [1] }, Buffer.from([0, 255]));
  tell(`${name}: to all`, await heard(clients, 4, "no broadcast"));

  await Promise.all([ann, bob, cid].map((one) => one.join("room")));
  await dan.join("other");
  second.io.to("room").emit("news", "room");
  const saw = [await heard(clients, 3, "no message to a room")];
  first.io.to("room").to("other").except("other").emit("news", "room but other");
  saw.push(await heard(clients, 3, "no message to a room"));
  ann.socket.emit("to others", "from ann");
  saw.push(await heard(clients, 3, "no message to others"));
  first.io.local.emit("news", "here");
  tell(`${name}: to rooms`, ...saw, await heard(clients, 2, "no local message"));

  first.io.to(dan.socket.id).emit("news", "to dan");
  const answers = await within(second.io.timeout(LIMIT_MS).emitWithAck("question", "well"), "no answers");
  tell(`${name}: to one, and with answers`, await heard(clients, 1, "no message to one"), answers.sort());

  const found = await first.io.in("room").fetchSockets();
  const seen = found.map((one) => [
    one.data,
    [...one.rooms].filter((room) => room !== one.id).sort(),
    one.handshake.query.name,
  ]);
  tell(
    `${name}: fetchSockets`,
    seen.sort((a, b) => (a[2] < b[2] ? -1 : 1)),
    (await second.io.fetchSockets()).length,
  );
}

async function remote([first, second], clients, name) {
  const [ann, bob, cid, dan] = clients;
  first.io.in("room").socketsJoin("second room");
  first.io.in(dan.socket.id).socketsLeave("other");
  const members = async (room) =>
    (await first.io.in(room).fetchSockets())
      .map((one) => one.data.name)
      .sort()
      .join();
  const joined = await eventually(
    () => members("second room"),
    (names) => names === "ann,bob,cid",
    "no joining",
  );
  tell(
    `${name}: joins and leaves from afar`,
    joined,
    await eventually(
      () => members("other"),
      (names) => names === "",
      "no leaving",
    ),
  );

  second.io.on("ask", (text, answer) => answer(`second: ${text}`));
  const told = within(
    new Promise((resolve) => second.io.once("tell", (...words) => resolve(words))),
    "no server-side event",
  );
  first.io.serverSideEmit("tell", "a", 1);
  tell(`${name}: serverSideEmit`, await told, await first.io.serverSideEmitWithAck("ask", "well"));

  const away = within(new Promise((resolve) => dan.socket.once("disconnect", resolve)), "no disconnection");
  first.io.in(dan.socket.id).disconnectSockets(true);
  const nsp = [
    await away,
    await eventually(
      async () => (await first.io.fetchSockets()).length,
      (count) => count === 3,
      "a ghost",
    ),
  ];
  tell(`${name}: disconnects from afar`, ...nsp);

  first.io.to("room").emit("news", "last");
  tell(`${name}: after that`, await heard([ann, bob, cid], 3, "no message"));
}

async function flow(name, adapters, r) {
  const servers = [await server(adapters[0], "first"), await server(adapters[1], "second")];
  await eventually(
    async () => (await servers[0].io.of("/").adapter.serverCount?.()) ?? 2,
    (count) => count === 2,
    "no second server",
  );
  const [first, second] = servers;
  const clients = [
    await client(first, "ann"),
    await client(second, "bob"),
    await client(first, "cid"),
    await client(second, "dan"),
  ];
  tell(
    `${name}: two servers`,
    await first.io.of("/").adapter.serverCount(),
    await second.io.of("/").adapter.serverCount(),
  );
  await rooms(servers, clients, name);
  await remote(servers, clients, name);
  clients.forEach((one) => one.socket.close());
  await Promise.all(servers.map((one) => within(one.io.close(), "no close")));
  const channels = async () => [await r.pubsub("CHANNELS"), await r.pubsub("SHARDCHANNELS"), await r.pubsub("NUMPAT")];
  tell(
    `${name}: leaves no subscription`,
    await eventually(channels, (left) => left.flat().join() === "0", "channels left"),
  );
}

run(async () => {
  const r = ioredis();
  await flow("ioredis", [createAdapter(ioredis(), ioredis()), createAdapter(ioredis(), ioredis())], r);
  const pairs = [];
  for (const RESP of [2, 3]) pairs.push([await nodeRedis({ RESP }), await nodeRedis({ RESP })]);
  await flow(
    "node-redis",
    pairs.map(([pub, sub]) => createAdapter(pub, sub)),
    r,
  );
  await flow(
    "sharded",
    pairs.map(([pub, sub]) => createShardedAdapter(pub, sub, { subscriptionMode: "dynamic-private" })),
    r,
  );
});
