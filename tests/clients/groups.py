"""python3-redis: consumer groups of streams. Arguments: port, password."""

import sys
import threading

import redis

from transcript import eventually, tell

PORT, PASSWORD = int(sys.argv[1]), sys.argv[2]


def connected():
    return redis.Redis(port=PORT, username="default", password=PASSWORD)


def attempt(call, *arguments, **options):
    try:
        return call(*arguments, **options)
    except redis.RedisError as error:
        return error


def without_times(pending):
    return [{name: value for name, value in entry.items() if name != "time_since_delivered"} for entry in pending]


def consumers(client):
    return [(consumer["name"], consumer["pending"]) for consumer in client.xinfo_consumers("s", "g")]


def waiting(client, call):
    """What a call answers that begins to wait, and gets its answer by `client`'s next command."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(attempt(call)))
    thread.start()
    eventually(lambda: client.info("clients")["blocked_clients"], lambda count: count == 1, "nobody waits")

    def finish():
        thread.join(20)
        return answers

    return finish


def main():
    client = connected()
    made = [client.xgroup_create("s", "g", "0", mkstream=True), attempt(client.xgroup_create, "s", "g", "0")]
    made += [attempt(client.xgroup_create, "missing", "g"), client.xgroup_createconsumer("s", "g", "idle")]
    tell("makes groups", *made, client.xgroup_delconsumer("s", "g", "idle"))

    for number in range(1, 7):
        client.xadd("s", {"task": number, "bytes": b"\x00\xff"}, id=f"{number}-0")
    delivered = [client.xreadgroup("g", "a", {"s": ">"}, count=2), client.xreadgroup("g", "b", {"s": ">"}, count=3)]
    delivered += [client.xreadgroup("g", "a", {"s": "0"}), client.xreadgroup("g", "a", {"s": "1-0"}, count=1)]
    tell("delivers", *delivered, client.xreadgroup("g", "c", {"s": ">"}, noack=True), client.xreadgroup("g", "c", {"s": ">"}))

    pending = [client.xpending("s", "g"), without_times(client.xpending_range("s", "g", "-", "+", 10))]
    pending.append(without_times(client.xpending_range("s", "g", "(3-0", "+", 10, "b")))
    tell("tells what is pending", *pending, client.xpending_range("s", "g", "-", "+", 10, idle=1_000_000))

    tell("acknowledges", client.xack("s", "g", "1-0", "1-0", "9-0"), client.xack("s", "none", "1-0"), client.xpending("s", "g"))

    claimed = [client.xclaim("s", "g", "c", 0, ["2-0", "9-0"]), client.xclaim("s", "g", "c", 0, ["3-0"], justid=True)]
    claimed += [client.xclaim("s", "g", "c", 1_000_000, ["4-0"]), client.xclaim("s", "g", "c", 0, ["1-0"], force=True, retrycount=9)]
    client.xdel("s", "4-0")
    claimed.append(client.xautoclaim("s", "g", "d", 0, "0", count=2))
    claimed.append(client.xautoclaim("s", "g", "d", 0, "3-0"))
    tell("claims", *claimed, client.xautoclaim("s", "g", "e", 0, justid=True), consumers(client))

    groups = client.xinfo_groups("s")
    tell("tells about groups", groups, client.xinfo_stream("s")["groups"])

    other = connected()
    finish = waiting(client, lambda: other.xreadgroup("g", "w", {"s": ">"}, block=20_000))
    client.xadd("s", {"task": 7}, id="7-0")
    woken = finish()
    tell("waits for entries", *woken, other.xreadgroup("g", "w", {"s": ">"}, block=10))

    finish = waiting(client, lambda: other.xreadgroup("g", "w", {"s": ">"}, block=20_000))
    client.xgroup_destroy("s", "g")
    codes = [str(told).split()[0] for told in finish()]  # the words after the code are others since Redis 7.2
    tell("is told that the group has gone", *codes, attempt(other.xreadgroup, "g", "w", {"s": ">"}))


main()
