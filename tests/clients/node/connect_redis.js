"use strict";
// connect-redis: the store of express-session, alone and in an Express application. Arguments: port, password.
const express = require("express");
const session = require("express-session");
const { RedisStore } = require("connect-redis");
const { nodeRedis } = require("./connections.js");
const { tell, eventually, run } = require("./transcript.js");

const DAY_S = 86_400;

function data(name, maxAge) {
  const cookie = maxAge === undefined ? {} : { originalMaxAge: maxAge, expires: new Date(Date.now() + maxAge) };
  return { name, cookie };
}

// A session without the cookie's time.
function brief(found) {
  return found && [found.id, found.name, typeof found.cookie];
}

async function leftBetween(r, key, from, to) {
  const left = await r.ttl(key);
  return left > from && left <= to;
}

async function store(r) {
  const sessions = new RedisStore({ client: r, prefix: "s:", scanCount: 10 });
  const empty = [
    await sessions.get("a"),
    await sessions.all(),
    await sessions.ids(),
    await sessions.length(),
    await sessions.clear(),
  ];
  tell("an empty store", ...empty);

  await sessions.set("a", data("ann"));
  await sessions.set("b", data("bob", 60_000));
  tell(
    "sets",
    brief(await sessions.get("a")),
    await leftBetween(r, "s:a", DAY_S - 60, DAY_S),
    await leftBetween(r, "s:b", 0, 60),
  );

  await sessions.touch("b", data("bob", 600_000));
  await sessions.touch("missing", data("nobody"));
  tell("touches", await leftBetween(r, "s:b", 500, 600), await r.exists("s:missing"));

  for (let number = 0; number < 100; ++number) await sessions.set(`many:${number}`, data(`n${number}`));
  await r.set("other", "v");
  const all = (await sessions.all()).map(brief).sort();
  tell("all, ids and length", all, (await sessions.ids()).sort(), await sessions.length());

  await sessions.destroy("a");
  await sessions.destroy("missing");
  await sessions.set("b", data("bob", -1));
  tell("destroys", await sessions.get("a"), await sessions.get("b"), await sessions.length());
  await sessions.clear();
  tell("clears", await sessions.length(), await r.dbSize());

  const called = await new Promise((resolve) => sessions.get("a", (...words) => resolve(words)));
  const lasting = new RedisStore({ client: r, prefix: "l:", disableTTL: true });
  await lasting.set("a", data("ann"));
  await sessions.set("brief", data("b", 500));
  await eventually(
    () => r.exists("s:brief"),
    (exists) => exists === 0,
    "no expiry",
  );
  tell("calls back, and expires", called, await r.ttl("l:a"), await sessions.get("brief"));

  await r.lPush("s:list", "v");
  const wrong = await new Promise((resolve) => sessions.get("list", resolve));
  tell("meets an error", wrong);
}

// Requests as a browser sends them, with the last cookie that the server set.
function browser(port) {
  let cookie = "";
  return async (path) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: cookie ? { cookie } : {} });
    const given = answer.headers.get("set-cookie");
    if (given !== null) cookie = given.split(";")[0];
    return [answer.status, await answer.text(), given !== null];
  };
}

async function application(r) {
  const app = express();
  const sessions = new RedisStore({ client: r, prefix: "app:" });
  app.use(
    session({
      store: sessions,
      secret: "secret",
      resave: false,
      saveUninitialized: false,
      rolling: false,
      cookie: { maxAge: 60_000 },
    }),
  );
  app.get("/", (request, response) => response.send(String(request.session.views)));
  app.get("/view", (request, response) => {
    request.session.views = (request.session.views ?? 0) + 1;
    response.send(String(request.session.views));
  });
  app.get("/regenerate", (request, response) => request.session.regenerate(() => response.send("new")));
  app.get("/out", (request, response) => request.session.destroy(() => response.send("out")));
  const server = await new Promise((resolve) => {
    const listening = app.listen(0, "127.0.0.1", () => resolve(listening));
  });
  const [ann, bob] = [browser(server.address().port), browser(server.address().port)];
  tell(
    "an application",
    await ann("/"),
    await ann("/view"),
    await ann("/view"),
    await bob("/view"),
    await sessions.length(),
  );
  const key = `app:${(await sessions.all()).find((found) => found.views === 2).id}`;
  await r.expire(key, 10);
  tell("touches for a visitor", await ann("/"), await leftBetween(r, key, 10, 60));
  tell(
    "regenerates, and logs out",
    await ann("/regenerate"),
    await ann("/"),
    await bob("/out"),
    await bob("/"),
    await sessions.length(),
  );
  server.close();
}

run(async () => {
  const r = await nodeRedis();
  await store(r);
  await application(await nodeRedis({ RESP: 3 }));
});
