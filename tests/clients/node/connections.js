"use strict";
// Connections of the frameworks' drivers. Arguments of a driver: port, password.
const Redis = require("ioredis");
const { createClient } = require("redis");

const [port, password] = process.argv.slice(2);

const LOGIN = { host: "127.0.0.1", port: Number(port), username: "default", password };

function ioredis(options = {}) {
  return new Redis({ ...LOGIN, ...options });
}

async function nodeRedis(options = {}) {
  const socket = { host: "127.0.0.1", port: Number(port) };
  const client = createClient({ socket, username: "default", password, ...options });
  client.on("error", (error) => console.error(error));
  return client.connect();
}

// For frameworks that make their own connections.
function url(database = 0) {
  return `redis://default:${password}@127.0.0.1:${port}/${database}`;
}

module.exports = { LOGIN, ioredis, nodeRedis, url };
