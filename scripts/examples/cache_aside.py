#!/usr/bin/env python3
"""Cache-aside with TAKE, by redis-py: of all callers that miss a key at once, one computes its value, the others get it.

    python3 scripts/examples/cache_aside.py [--url redis://:password@host:port]     (or the variable REDIS_URL)
"""

import argparse
import os
import threading
import time

import redis

LEASE_MS = 30_000  # longer than any computation takes
WAIT_MS = 5000
CALLERS = 50
CONNECTIONS = 10  # fewer than callers, as in a program with a bounded pool


def cached(client, key, ttl_s, compute):
    """Returns the value of `key`; if the value is missing, calls compute() and keeps the result for `ttl_s` seconds.

    For the same time after the deadline, callers get the old value while one of them computes the new one. The function keeps
    one connection of the pool from TAKE to SET: otherwise waiting callers may take all connections, and none is left for SET.
    """
    with client.client() as one:
        token = None
        while not token:  # BUSY comes without a token: the computation still goes on
            status, value, token, _ = one.execute_command("TAKE", key, "LEASE", LEASE_MS, "WAIT", WAIT_MS)
            if status in (b"HIT", "HIT", b"STALE", "STALE"):  # a text with decode_responses=True
                return value
        try:
            value = compute()
            one.execute_command("SET", key, value, "EX", ttl_s, "STALE", ttl_s, "IFLEASE", token)
        except BaseException as error:  # whatever ends the function ends the lease: the pool keeps the connection open
            one.execute_command("UNLEASE", key, token, "ERR", str(error))  # waiting callers get this error
            raise
        return value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default=os.environ.get("REDIS_URL", "redis://127.0.0.1:6379"))
    url = parser.parse_args().url
    client = redis.Redis(connection_pool=redis.BlockingConnectionPool.from_url(url, max_connections=CONNECTIONS))
    calls = []

    def page():
        calls.append(1)
        time.sleep(0.1)
        return b"<h1>Hello</h1>"

    threads = [threading.Thread(target=cached, args=(client, "page:home", 60, page)) for _ in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    page = cached(client, "page:home", 60, page).decode()
    print(f"{CALLERS} callers, {CONNECTIONS} connections, computed {len(calls)} times: {page}")


if __name__ == "__main__":
    main()
