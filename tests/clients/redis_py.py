"""python3-redis: the steps of scripts/suite/clients.py. Arguments: port, password. With TLS if TLS_FILES names a folder."""

import json
import os
import sys
import threading

import redis

from transcript import eventually, expect, tell

PORT, PASSWORD = int(sys.argv[1]), sys.argv[2]
FILES = os.environ.get("TLS_FILES")
SECRECY = {
    "ssl": True,
    "ssl_ca_certs": f"{FILES}/ca.crt",
    "ssl_certfile": f"{FILES}/client.crt",
    "ssl_keyfile": f"{FILES}/client.key",
}
WHERE = {"port": PORT, **(SECRECY if FILES else {})}
OPTIONS = {**WHERE, "username": "default", "password": PASSWORD, "client_name": "driver"}
POOL = 50


def attempt(call, *arguments):
    try:
        return call(*arguments)
    except redis.RedisError as error:
        return error


def until(call, wanted, text):
    return eventually(lambda: attempt(call), wanted, text)


def pool():
    options = {name: value for name, value in OPTIONS.items() if name != "ssl"}
    if FILES:
        options["connection_class"] = redis.SSLConnection
    connections = redis.BlockingConnectionPool(max_connections=POOL, timeout=20, **options)
    client, ids, values = redis.Redis(connection_pool=connections), [], []
    together = threading.Barrier(POOL)

    def work(number):
        with client.client() as one:
            ids.append(one.client_id())
            together.wait(20)
            one.set(f"pool:{number}", number)
            values.append(int(one.get(f"pool:{number}")))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(POOL)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    connections.disconnect()
    expect(len(set(ids)) == POOL and sum(values) == POOL * (POOL - 1) // 2, "not 50 clients at one time")
    return len(set(ids)), sum(values)


def pipeline(r):
    with r.pipeline(transaction=False) as p:
        p.set("text", "word")
        for number in range(50):
            p.set(f"p:{number}", number).incr(f"p:{number}")
        p.incr("text").get("p:7").get("missing").delete("p:1", "p:2", "missing")
        return p.execute(raise_on_error=False)


def main():
    r = redis.Redis(**OPTIONS)
    tell("connects with name and password", r.ping(), r.client_getname())
    tell("meets a wrong password", attempt(redis.Redis(**WHERE, password="wrong").ping))
    tell("runs a pool of 50", *pool())

    saw = [r.set("ttl", "v", ex=100), 0 < r.ttl("ttl") <= 100, 99_000 < r.pttl("ttl") <= 100_000]
    saw += [r.set("ttl", "w", nx=True), r.set("ttl", "w", xx=True, keepttl=True), r.persist("ttl"), r.ttl("ttl")]
    saw += [r.set("ttl", "x", get=True), r.setex("ttl", 50, "y"), r.expire("ttl", 60), r.expire("missing", 60)]
    tell("sets with a TTL", *saw, r.getex("ttl", persist=True), r.ttl("ttl"), r.getdel("ttl"))

    tell("MGET", r.mset({"m:1": "a", "m:2": ""}), r.mget("m:1", "missing", "m:2"))

    r.mset({f"scan:{number:03}": number for number in range(300)})
    keys = sorted(set(r.scan_iter(match="scan:*", count=50)))
    expect(len(keys) == 300, "SCAN did not find 300 keys")
    tell("SCAN", *keys)

    tell("pipeline", *pipeline(r))

    every = bytes(range(256))
    saw = [r.set(every, every), r.get(every), r.set("empty", b""), r.get("empty"), r.set("line", "a\r\nb"), r.get("line")]
    large = bytes(number * 7 % 251 for number in range(1_000_000))
    r.set("large", large)
    expect(r.get("large") == large, "a value of 1 MB came back changed")
    tell("binary values", *saw, r.strlen("large"))

    saw = [r.incr("n"), r.incrby("n", 41), r.decr("n", 2), r.append("n", "1"), r.exists("n", "n")]
    saw += [r.type("n"), r.type("missing"), r.get("missing"), r.delete("n", "missing"), r.config_get("databases")]
    tell("types of replies", *saw)

    tell("floats and ranges", attempt(r.incrbyfloat, "f", 0.5), attempt(r.getrange, "large", 1000, 1020))

    tell("meets an error", attempt(r.incr, "text"), r.get("text"), attempt(r.execute_command, "NOSUCH"))
    tell("meets a wrong type", attempt(r.lpush, "text", "x"))

    r.set("brief", "v", px=30)
    tell("meets an expiry", until(lambda: r.get("brief"), lambda v: v is None, "no expiry"), r.ttl("brief"), r.exists("brief"))

    r.set("before", "v")
    print(json.dumps({"restart": True}), flush=True)
    sys.stdin.readline()
    until(r.ping, lambda v: v is True, "no reconnection")
    tell("reconnects after a restart", r.get("before"), r.client_getname())


main()
