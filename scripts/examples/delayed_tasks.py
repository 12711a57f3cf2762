"""Delayed tasks: a key is a task, its deadline is when it is due, and EXPLOG hands it over. Needs redis-py.

The server needs: CONFIG SET expire-log-size 64mb expire-log-values 4096
"""

import redis


def schedule(cache, name, payload, delay_ms):
    """The task is due in `delay_ms`; DEL cancels it, PEXPIRE moves it."""
    cache.set(f"task:{name}", payload, px=delay_ms)


def work(cache, run, seq=0, idle_ms=0):
    """Runs each task once it is due, until nothing came for `idle_ms` (0: for ever). Returns where to go on."""
    while True:
        records = cache.execute_command("EXPLOG", "READ", seq, "BLOCK", idle_ms, "VALUES")
        if not records:
            return seq
        for seq, _due_ms, reason, _db, key, payload in records:
            if reason == b"expired" and key.startswith(b"task:"):
                run(key[len(b"task:"):].decode(), payload)
        cache.execute_command("EXPLOG", "ACK", seq)  # after the work: a worker that dies begins again here
        seq += 1


if __name__ == "__main__":
    work(redis.Redis(), lambda name, payload: print(name, payload))
