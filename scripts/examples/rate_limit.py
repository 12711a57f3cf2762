#!/usr/bin/env python3
"""A limit for requests, by redis-py: INCREX counts, refuses and begins a new window in one step.

    python3 scripts/examples/rate_limit.py [--url redis://:password@host:port]     (or the variable REDIS_URL)
"""

import argparse
import os

import redis


def allow(client, who, limit, window_s):
    """Whether `who` may go on, and in how many milliseconds the window ends.

    UBOUND: above the limit nothing is added. ENX: only the first request of a window gives the key its TTL.
    """
    key = f"limit:{who}"
    with client.pipeline(transaction=False) as pipe:
        pipe.execute_command("INCREX", key, "UBOUND", limit, "EX", window_s, "ENX")
        pipe.pttl(key)
        (_, added), left_ms = pipe.execute()
    return added == 1, left_ms


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default=os.environ.get("REDIS_URL", "redis://127.0.0.1:6379"))
    client = redis.Redis.from_url(parser.parse_args().url)
    for number in range(1, 8):
        allowed, left_ms = allow(client, "10.0.0.7", 5, 60)
        print(f"request {number}: {'allowed' if allowed else f'refused, again in {left_ms} ms'}")


if __name__ == "__main__":
    main()
