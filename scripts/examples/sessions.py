#!/usr/bin/env python3
"""Sessions, by redis-py: each request keeps one alive for half an hour more, but none lives longer than a day.

    python3 scripts/examples/sessions.py [--url redis://:password@host:port]     (or the variable REDIS_URL)
"""

import argparse
import json
import os
import secrets

import redis

IDLE_S = 30 * 60
LONGEST_S = 24 * 60 * 60


def start(client, user, data):
    """Begins a session, and returns its token. SLIDE: each GET gives the key its TTL again; MAX: but not for ever."""
    token = secrets.token_urlsafe(32)
    text = json.dumps({"user": user, **data})
    times = ("EX", IDLE_S, "SLIDE", "MAX", LONGEST_S)
    client.execute_command("SET", f"session:{token}", text, *times, "TAGS", 1, f"sessions-of:{user}")
    return token


def load(client, token):
    """What the session has, or None if it is over."""
    text = client.get(f"session:{token}")
    return None if text is None else json.loads(text)


def save(client, token, session):
    """Other data for a session that is not over: KEEPTTL keeps how it slides, and its tag."""
    return bool(client.execute_command("SET", f"session:{token}", json.dumps(session), "XX", "KEEPTTL"))


def end(client, token):
    client.delete(f"session:{token}")


def end_all(client, user):
    """Logs somebody out everywhere; returns how many sessions that were."""
    return client.execute_command("INVALIDATE", f"sessions-of:{user}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default=os.environ.get("REDIS_URL", "redis://127.0.0.1:6379"))
    client = redis.Redis.from_url(parser.parse_args().url)
    token = start(client, "ann", {"cart": []})
    start(client, "ann", {"cart": []})
    save(client, token, {"user": "ann", "cart": ["book"]})
    print(f"{load(client, token)}, for {client.ttl(f'session:{token}')} s more")
    print(f"{end_all(client, 'ann')} sessions ended; {load(client, token)} is left")


if __name__ == "__main__":
    main()
