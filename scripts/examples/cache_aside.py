#!/usr/bin/env python3
"""Cache-aside with TAKE, by redis-py: of all callers that miss a key at once, one computes its value, the others get it.

    python3 scripts/examples/cache_aside.py [--url redis://:password@host:port]     (or the variable REDIS_URL)
"""

import argparse
import os
import threading
import time

import redis

LEASE_MS = 30_000  # longer than any computation takes: the end of its connection ends a lease, too
WAIT_MS = 5000


def cached(client, key, ttl_s, compute):
    """The value of `key`; if there is none, what compute() returns, kept for `ttl_s` seconds.

    For as long again the old value is there for those who come while one computes the new one.
    """
    token = None
    while not token:  # BUSY comes without a token: the computation still goes on
        status, value, token, _ = client.execute_command("TAKE", key, "LEASE", LEASE_MS, "WAIT", WAIT_MS)
        if status in (b"HIT", "HIT", b"STALE", "STALE"):  # a text with decode_responses=True
            return value
    try:
        value = compute()
    except Exception as error:
        client.execute_command("UNLEASE", key, token, "ERR", str(error)[:1000])  # who waits gets this error
        raise
    client.execute_command("SET", key, value, "EX", ttl_s, "STALE", ttl_s, "IFLEASE", token)
    return value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default=os.environ.get("REDIS_URL", "redis://127.0.0.1:6379"))
    client = redis.Redis.from_url(parser.parse_args().url)
    calls = []

    def page():
        calls.append(1)
        time.sleep(0.1)
        return b"<h1>Hello</h1>"

    threads = [threading.Thread(target=cached, args=(client, "page:home", 60, page)) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"50 callers, computed {len(calls)} times: {cached(client, 'page:home', 60, page).decode()}")


if __name__ == "__main__":
    main()
