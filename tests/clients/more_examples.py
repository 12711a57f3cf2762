"""scripts/examples/sessions.py and rate_limit.py: the steps of scripts/suite/clients.py. Arguments: port, password."""

import os
import sys

import redis

from transcript import eventually, expect, tell

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "scripts", "examples"))

import cache_aside
import rate_limit
import sessions


def main():
    url = f"redis://:{sys.argv[2]}@127.0.0.1:{sys.argv[1]}"
    client = redis.Redis.from_url(url)
    texts = redis.Redis.from_url(url, decode_responses=True)
    for number, caller in enumerate((client, texts)):
        got = [cache_aside.cached(caller, f"page:{number}", 60, lambda: "value") for _ in range(2)]
        expect(got in (["value", b"value"], ["value", "value"]), f"{got}")
    tell("cache-aside with bytes and with texts")

    token = sessions.start(client, "ann", {"cart": []})
    other = sessions.start(client, "ann", {})
    expect(sessions.load(texts, token) == {"user": "ann", "cart": []}, "the session is not as it began")
    client.expire(f"session:{token}", 60, xx=True)
    expect(sessions.save(client, other, {"user": "ann", "seen": 1}), "a session was not saved")
    expect(sessions.IDLE_S - 2 <= client.ttl(f"session:{other}") <= sessions.IDLE_S, "KEEPTTL has not kept the TTL")
    expect(sessions.load(client, other)["seen"] == 1, "the session has other data")
    sessions.end(client, token)
    expect(sessions.load(client, token) is None and not sessions.save(client, token, {}), "an ended session is there")
    expect(sessions.end_all(client, "ann") == 1 and sessions.load(client, other) is None, "not logged out everywhere")
    tell("sessions begin, go on and end")

    answers = [rate_limit.allow(client, "me", 3, 60) for _ in range(5)]
    expect([allowed for allowed, _ in answers] == [True] * 3 + [False] * 2, f"{answers}")
    expect(all(0 < left_ms <= 60_000 for _, left_ms in answers), f"{answers}")
    expect(rate_limit.allow(client, "other", 3, 60)[0], "one has used up another's limit")
    rate_limit.allow(client, "soon", 1, 1)
    eventually(lambda: rate_limit.allow(client, "soon", 1, 1)[0], bool, "the window does not end")
    tell("a limit holds for its window")


main()
