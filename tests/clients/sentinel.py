"""redis-py's Sentinel: the steps of scripts/suite/clients.py. Arguments: the sentinels' ports, password."""

import json
import sys

import redis
from redis.sentinel import Sentinel

from transcript import eventually, expect, tell

PORTS, PASSWORD = [int(port) for port in sys.argv[1].split(",")], sys.argv[2]
MASTER = "mymaster"
REPLICAS = 2
WAIT_MS = 20_000


def attempt(call, *arguments):
    try:
        return call(*arguments)
    except redis.RedisError as error:
        return error


def ask(request):
    print(json.dumps({request: True}), flush=True)
    sys.stdin.readline()


def main():
    sentinel = Sentinel([("127.0.0.1", port) for port in PORTS], socket_timeout=5)
    eventually(lambda: attempt(sentinel.discover_slaves, MASTER), lambda found: isinstance(found, list) and len(found) == REPLICAS, "the replicas are not found")
    login = {"password": PASSWORD, "socket_timeout": 30}
    master, replica = sentinel.master_for(MASTER, **login), sentinel.slave_for(MASTER, **login)
    tell("finds the master and a replica by the sentinels", master.role()[0], replica.role()[0])

    saw = [master.set("confirmed", "v"), master.wait(REPLICAS, WAIT_MS)]
    tell("reads at a replica what the master has got", *saw, replica.get("confirmed"), attempt(replica.set, "k", "v"))

    before = sentinel.discover_master(MASTER)
    ask("kill")
    written = eventually(lambda: attempt(master.set, "after", "v"), lambda reply: reply is True, "no write is taken")
    expect(sentinel.discover_master(MASTER) != before, "the master is the one that was killed")
    tell("goes on at another server when the master is killed", written, master.role()[0])
    tell("finds there what WAIT has confirmed", master.get("confirmed"), master.get("after"))

    ask("restart")
    eventually(lambda: attempt(master.info, "replication"), lambda info: isinstance(info, dict) and info["connected_slaves"] == REPLICAS, "no replica comes back")
    saw = [master.set("last", "v"), master.wait(REPLICAS, WAIT_MS)]
    old = redis.Redis(*before, **login)
    tell("has the old master as a replica", *saw, old.role()[0], old.mget("confirmed", "after", "last"))


main()
