"""scripts/examples/cache_aside.py: the steps of scripts/suite/clients.py. Arguments: port, password."""

import os
import sys
import threading

import redis

from transcript import eventually, expect, tell

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "scripts", "examples"))

import cache_aside

CALLERS = 50


def together(client, key, compute):
    """What CALLERS threads get that miss a key at once, and their errors' texts."""
    values, errors = [], []

    def call():
        try:
            values.append(cache_aside.cached(client, key, 60, compute))
        except Exception as error:
            errors.append(str(error))

    threads = [threading.Thread(target=call) for _ in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return values, errors


def main():
    client = redis.Redis(port=int(sys.argv[1]), username="default", password=sys.argv[2])
    calls = []

    def blocked(count):
        eventually(lambda: int(client.info("clients")["blocked_clients"]), lambda n: n == count, "they do not wait")

    def slow():
        calls.append(1)
        blocked(CALLERS - 1)
        return b"value"

    values, errors = together(client, "page", slow)
    expect(len(calls) == 1 and values == [b"value"] * CALLERS and not errors, f"{len(calls)} computed: {values} {errors}")
    tell("one of 50 computes", len(calls), len(values))

    def failing():
        blocked(CALLERS - 1)
        raise ValueError("the origin is down")

    values, errors = together(client, "broken", failing)
    expect(not values and sorted(set(errors)) == ["the origin is down"] and len(errors) == CALLERS, f"{values} {errors}")
    tell("an error reaches all who wait", sorted(set(errors)))

    # More callers than connections: the one that computes keeps its connection, and the others wait on all the rest.
    few = 5
    pool = redis.BlockingConnectionPool(
        port=int(sys.argv[1]), username="default", password=sys.argv[2], max_connections=few, timeout=60
    )

    def slow_in_pool():
        calls.append(1)
        blocked(few - 1)
        return b"value"

    calls.clear()
    values, errors = together(redis.Redis(connection_pool=pool), "pooled", slow_in_pool)
    expect(len(calls) == 1 and values == [b"value"] * CALLERS and not errors, f"{len(calls)} computed: {values} {errors}")
    tell("one of 50 computes with 5 connections", len(calls), len(values))

    # The pool keeps the connection of a caller that fails, and so the function ends the lease.
    class Interrupted(BaseException):
        pass

    def interrupted():
        raise Interrupted

    pooled = redis.Redis(connection_pool=pool)
    try:
        cache_aside.cached(pooled, "interrupted", 60, interrupted)
    except Interrupted:
        pass
    reply = pooled.execute_command("TAKE", "interrupted", "LEASE", 1000)
    expect(reply[0] == b"LEASE", f"the lease of an interrupted caller goes on: {reply}")
    tell("an interrupted caller gives its lease back", reply[0])

    owner = redis.Redis(port=int(sys.argv[1]), username="default", password=sys.argv[2])
    owner.execute_command("TAKE", "left", "LEASE", 60000)
    got = []
    waits = threading.Thread(target=lambda: got.append(cache_aside.cached(client, "left", 60, lambda: b"mine")))
    waits.start()
    blocked(1)
    owner.close()
    waits.join()
    expect(got == [b"mine"], f"the lease of a client that left was not inherited: {got}")
    tell("who waits inherits from a client that left", got[0])

    token = client.execute_command("TAKE", "deleted", "LEASE", 60000)[2]
    client.delete("deleted")
    tell("a token is void after DEL", client.execute_command("SET", "deleted", "old", "IFLEASE", token))


main()
