"""What a client of the soak sends: pipelines of commands on all types of values, over few keys, so that they meet.

A Worker is a process. It knows the values of some keys that only it writes, and what it reads of them must be what it wrote, or
nothing: they may have been evicted, flushed or swapped away.
"""

import random
import socket
import time

KEYS = 3000
DATABASES = 3
BATCH = 100
# Beginnings of the errors that a client may get while faults are injected, and of those that its own requests deserve.
EXPECTED_ERRORS = (
    "OOM ",
    "BUSY ",
    "WRONGTYPE ",
    "NOSCRIPT ",
    "ERR out of memory",
    "ERR value is not",
    "ERR hash value is not",
    "ERR no such key",
    "ERR index out of range",
    "ERR increment or decrement would overflow",
    "ERR max number of clients",
    "ERR Error running script",
    "ERR The ID specified in XADD is equal or smaller",
    "ERR source and destination objects are the same",
    "UNKILLABLE ",
    "EXECABORT ",
)
SIZES = (3, 20, 60, 200, 1000, 4000, 20_000, 100_000)
SIZE_WEIGHTS = (30, 30, 20, 20, 10, 5, 2, 1)


class Broken(Exception):
    """The server said something that it must not say."""


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 60)
        self.file = self.socket.makefile("rb")

    def close(self):
        self.file.close()
        self.socket.close()

    def ask_all(self, requests):
        """The replies of a pipeline: bytes, int, None, lists; an error as an Exception object."""
        self.socket.sendall(b"".join(encode(words) for words in requests))
        return [self.reply() for _ in requests]

    def reply(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("closed")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            return Exception(rest.decode(errors="replace"))
        if kind == b":":
            return int(rest)
        if kind == b"$":
            if rest == b"-1":
                return None
            text = self.file.read(int(rest) + 2)
            if len(text) != int(rest) + 2 or not text.endswith(b"\r\n"):
                raise ConnectionError("closed within a reply")
            return text[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self.reply() for _ in range(int(rest))]
        if kind == b"+":
            return rest
        raise Broken(f"this is no reply: {line[:100]!r}")


def encode(words):
    parts = [w if isinstance(w, bytes) else str(w).encode() for w in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in parts)


def value(dice):
    return b"v" * dice.choices(SIZES, SIZE_WEIGHTS)[0]


def request(dice):
    """Any command on any type."""
    key = f"{dice.choice('shlzxtg')}:{dice.randrange(KEYS)}"
    kind, ttl, member = key[0], dice.randrange(1, 8000), dice.randrange(300)
    ways = {
        "s": (
            lambda: ("SET", key, value(dice), "PX", ttl),
            lambda: ("SET", key, value(dice)),
            lambda: ("SET", key, value(dice), "EX", 2, "STALE", 2),
            lambda: ("GET", key),
            lambda: ("APPEND", key, "x" * dice.randrange(50)),
            lambda: ("SETRANGE", key, dice.randrange(3000), "yz"),
            lambda: ("MGET", key, "s:1", "h:1"),
            lambda: ("SETBIT", key, dice.randrange(9000), 1),
            lambda: ("GETEX", key, "PX", ttl),
            lambda: ("SET", key, "v", "TAGS", 1, f"tag:{member % 10}"),
        ),
        "h": (
            lambda: ("HSET", key, f"f{member}", value(dice), "g", dice.randrange(9)),
            lambda: ("HGETALL", key),
            lambda: ("HDEL", key, f"f{member}", "g"),
            lambda: ("HPEXPIRE", key, ttl, "FIELDS", 1, f"f{member}"),
            lambda: ("HINCRBY", key, "g", 1),
        ),
        "l": (
            lambda: ("RPUSH", key, value(dice), member),
            lambda: ("LPOP", key, dice.randrange(1, 5)),
            lambda: ("LRANGE", key, 0, 20),
            lambda: ("LTRIM", key, -100, -1),
            lambda: ("LMOVE", key, f"l:{member}", "LEFT", "RIGHT"),
        ),
        "z": (
            lambda: ("ZADD", key, dice.random(), f"m{member}", member, "n"),
            lambda: ("ZRANGE", key, 0, 20, "WITHSCORES"),
            lambda: ("ZREM", key, f"m{member}"),
            lambda: ("ZUNIONSTORE", key, 2, key, f"z:{member}"),
            lambda: ("ZREMRANGEBYRANK", key, 0, 3),
        ),
        "x": (
            lambda: ("XADD", key, "MAXLEN", 200, "*", "f", value(dice)),
            lambda: ("XRANGE", key, "-", "+", "COUNT", 5),
            lambda: ("XTRIM", key, "MAXLEN", 10),
        ),
        "t": (
            lambda: ("SADD", key, member, f"m{member}"),
            lambda: ("SADDEX", key, 1 + member % 5, f"e{member}"),
            lambda: ("SREM", key, member),
            lambda: ("SMEMBERS", key),
            lambda: ("SINTERSTORE", f"t:{member}", key, "t:1"),
            lambda: ("SPOP", key),
        ),
        "g": (
            lambda: ("PFADD", key, member, ttl),
            lambda: ("PFCOUNT", key),
            lambda: ("DEL", key),
        ),
    }
    anything = (
        lambda: ("EXPIRE", key, dice.randrange(1, 9)),
        lambda: ("PEXPIREAT", key, int(time.time() * 1000) + ttl),
        lambda: ("DEL", key),
        lambda: ("UNLINK", key, f"h:{member}", f"l:{member}"),
        lambda: ("RENAME", key, f"{kind}:{member}"),
        lambda: ("COPY", key, f"{kind}:{member}", "REPLACE"),
        lambda: ("MOVE", key, dice.randrange(DATABASES)),
        lambda: ("TYPE", key),
        lambda: ("SCAN", 0, "COUNT", 50),
        lambda: ("INVALIDATE", f"tag:{member % 10}"),
        lambda: ("EVAL", "return redis.call('SET', KEYS[1], ARGV[1], 'PX', 500)", 1, f"s:{member}", "v"),
        lambda: ("PUBLISH", f"c{member % 5}", "news"),
        lambda: ("INFO", "everything") if member == 0 else ("PING",),
    )
    return dice.choice(ways[kind] if dice.random() < 0.8 else anything)()


class Worker:
    def __init__(self, port, number, seed, until):
        self.port, self.number, self.until = port, number, until
        self.dice = random.Random(seed * 1000 + number)
        self.own = {}
        self.requests = self.closed = self.refused = 0

    def run(self):
        """Until the time is over. Raises Broken for a reply that no fault explains."""
        connection = None
        while time.monotonic() < self.until:
            try:
                if connection is None:
                    connection = Connection(self.port)
                    connection.ask_all([("SELECT", self.dice.randrange(DATABASES))])
                self.send(connection)
            except (OSError, ValueError):
                self.closed += 1  # by a fault; the operator notices if the daemon is gone
                if connection is not None:
                    connection.close()
                connection = None
                time.sleep(0.02)
        return self.requests, self.closed, self.refused

    def send(self, connection):
        requests = [request(self.dice) for _ in range(BATCH)]
        mine = f"own:{self.number}:{self.dice.randrange(50)}"
        requests.append(("GET", mine))
        text = b"%d:%s" % (self.dice.randrange(1 << 40), value(self.dice))
        requests.append(("SET", mine, text))
        # All that may be there: after SWAPDB an older one may come back, and the reply to this one may be lost.
        known = self.own.setdefault(mine, set())
        before = frozenset(known)
        known.add(text)
        replies = connection.ask_all(requests)
        self.requests += len(requests)
        for reply, words in zip(replies, requests):
            if not isinstance(reply, Exception):
                continue
            self.refused += 1
            if not str(reply).startswith(EXPECTED_ERRORS):
                raise Broken(f"{words[0]} {words[1] if len(words) > 1 else ''}: {reply}")
        if isinstance(replies[-2], bytes) and replies[-2] not in before:
            raise Broken(f"{mine} has a value that was never written to it")
