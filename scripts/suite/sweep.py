"""Commands with twice as many arguments or members do about twice the work: instructions, counted by callgrind.

Each case fills keys of its own and runs once with n and once with 2 n arguments, members or requests. A daemon under
callgrind writes what it has counted whenever it runs PING, so a PING before and one after the case are enough.
"""

import concurrent.futures
import contextlib
import os
import re
import shutil
import tempfile
import time

from metered import Client, Failed, eventually, process, require
from servers import free_port

# More than 65,535 items in one pack are counted by a walk (cache/types/pack.h), so 2 n is more than that.
N = 36_000
MOST = 2.6
FEW = 10  # instructions an item: so little is mostly the work around it
TRIES = 3  # The daemon's own work on its time is counted, too: what is dear by it is dear once, what is quadratic always.
AT_ONCE = 2_000  # requests of a pipeline

CASES = []


class Case:
    """`fill(key, n)` and `work(key, n)` make lists of requests; `part` of n is taken where each one is dear."""

    def __init__(self, name, work, fill=None, part=1):
        self.name, self.work, self.fill, self.n = name, work, fill, N // part


def case(name, work, fill=None, part=1):
    CASES.append(Case(name, work, fill, part))


# ---- what requests are made of

def ints(n, first=0):
    return list(range(first, first + n))


def texts(n, start="member:"):
    return [f"{start}{i * 7919 % n}" for i in range(n)]


def pairs(n):
    return [word for i, text in enumerate(texts(n)) for word in (text, i)]


def scored(n):
    return [word for i, text in enumerate(texts(n)) for word in (i * 7919 % n, text)]


def named(key, n):
    return [f"{key}:{i}" for i in range(n)]


def places(n):
    return [word for i, text in enumerate(texts(n)) for word in (i % 360 - 180 + i / n, i % 160 - 80, text)]


def each(n, make):
    return [make(i) for i in range(n)]


# ---- what a case finds

def strings(key, n):
    return [("MSET", *[word for name in named(key, n) for word in (name, "v")])]


def a_hash(key, n):
    return [("HSET", key, *pairs(n))]


def a_set(key, n):
    return [("SADD", key, *texts(n))]


def a_sorted_set(key, n):
    return [("ZADD", key, *scored(n))]


def a_list(key, n):
    return [("RPUSH", key, *ints(n))]


def a_list_of_texts(key, n):
    return [("RPUSH", key, *texts(n))]


def a_stream(key, n):
    return each(n, lambda i: ("XADD", key, f"{i + 1}-1", "f", i))


def small(*words):
    """Many small values: `words` after the key of each."""
    return lambda key, n: [(words[0], name, *words[1:]) for name in named(key, n)]


def filled_in(words, key, n):
    return tuple({"K": key, "N": n, "H": n // 2}.get(word, word) for word in words)


def on(*words):
    """One request about the key: K stands for it, N for n, H for half of n."""
    return lambda key, n: [filled_in(words, key, n)]


def again(times, *words):
    return lambda key, n: on(*words)(key, n) * times


def keys(*words, after=()):
    """One request about n keys."""
    return lambda key, n: [(*filled_in(words, key, n), *named(key, n), *after)]


def members(*words, of=texts):
    """One request with n members."""
    return lambda key, n: [(*filled_in(words, key, n), *of(n))]


case("MSET", strings)
case("MSETNX", lambda key, n: [("MSETNX", *strings(key, n)[0][1:])])
case("MSETEX", lambda key, n: [("MSETEX", n, *strings(key, n)[0][1:], "EX", 100)])
for command in ("MGET", "DEL", "UNLINK", "EXISTS", "TOUCH", "WATCH", "MGETTTL"):
    case(command, keys(command), strings)
case("SUBSCRIBE", keys("SUBSCRIBE"))
case("PSUBSCRIBE", keys("PSUBSCRIBE"))
case("SSUBSCRIBE", keys("SSUBSCRIBE"))
case("UNSUBSCRIBE", keys("UNSUBSCRIBE"), keys("SUBSCRIBE"))
case("MULTI and EXEC", lambda key, n: [("MULTI",), *each(n, lambda i: ("SET", f"{key}:{i}", "v")), ("EXEC",)], part=2)
case("APPEND", lambda key, n: each(n, lambda i: ("APPEND", key, "0123456789")), part=2)
case("SETRANGE", lambda key, n: each(n, lambda i: ("SETRANGE", key, 10 * i, "0123456789")), part=2)
case("SETBIT", lambda key, n: each(n, lambda i: ("SETBIT", key, 80 * i, "1")), part=2)
case("BITFIELD", lambda key, n: [("BITFIELD", key, *[word for i in range(n) for word in ("SET", "u8", f"#{i}", 1)])])
case("BITOP", keys("BITOP", "OR", "K"), strings)
case("EVAL", lambda key, n: [("EVAL", "return #KEYS + #ARGV", n, *named(key, n), *ints(n))])
case("SCRIPT EXISTS", lambda key, n: [("SCRIPT", "EXISTS", *ints(n))])
case("COMMAND INFO", lambda key, n: [("COMMAND", "INFO", *["get", "set", "nosuch"] * (n // 3))], part=16)
case("COMMAND GETKEYS", lambda key, n: [("COMMAND", "GETKEYS", "MSET", *strings(key, n)[0][1:])])
case("CONFIG GET", lambda key, n: [("CONFIG", "GET", *[f"maxmemory{i}" for i in range(n)])], part=16)
case("ACL DELUSER", keys("ACL", "DELUSER"), lambda key, n: [("ACL", "SETUSER", name) for name in named(key, n)], part=16)
case("CLIENT TRACKING", lambda key, n: [("CLIENT", "TRACKING", "ON", "BCAST", *[word for i in range(n) for word in ("PREFIX", f"{key}:{i:09}")])], part=4)

case("HSET", a_hash)
case("HSET of a hash", a_hash, a_hash)
case("HGETALL", on("HGETALL", "K"), a_hash)
case("HRANDFIELD", on("HRANDFIELD", "K", "H"), a_hash)
case("HMGET", members("HMGET", "K"), a_hash)
case("HDEL", members("HDEL", "K"), a_hash)
case("HEXPIRE", members("HEXPIRE", "K", 100, "FIELDS", "N"), a_hash)
case("HTTL", members("HTTL", "K", "FIELDS", "N"), a_hash)
case("HPERSIST", members("HPERSIST", "K", "FIELDS", "N"), lambda key, n: a_hash(key, n) + members("HEXPIRE", "K", 100, "FIELDS", "N")(key, n))
case("HSETEX", members("HSETEX", "K", "EX", 100, "FIELDS", "N", of=pairs))
case("HGETEX", members("HGETEX", "K", "EX", 100, "FIELDS", "N"), a_hash)
case("HGETDEL", members("HGETDEL", "K", "FIELDS", "N"), a_hash)
case("HSCAN", on("HSCAN", "K", 0, "COUNT", "N"), a_hash)

case("SADD", a_set)
case("SADD of integers", members("SADD", "K", of=ints))
case("SADDEX", members("SADDEX", "K", 100))
case("SREM", members("SREM", "K"), a_set)
case("SMISMEMBER", members("SMISMEMBER", "K"), a_set)
case("SPOP", on("SPOP", "K", "H"), a_set)
case("SPOP of nearly all", lambda key, n: [("SPOP", key, n - 2)], a_set)
case("SPOP one by one", lambda key, n: [("SPOP", key)] * (n - 1), a_set, part=2)
case("SRANDMEMBER", on("SRANDMEMBER", "K", "H"), a_set)
case("SRANDMEMBER, repeated", lambda key, n: [("SRANDMEMBER", key, -n)], a_set)
case("SMOVE", lambda key, n: [("SMOVE", key, key + ":to", text) for text in texts(n)], a_set, part=2)
for command in ("SUNION", "SDIFF", "SINTER"):
    case(command, keys(command), small("SADD", "a", "b"), part=4)
case("SINTERCARD", keys("SINTERCARD", "N"), small("SADD", "a", "b"), part=2)
case("SUNIONSTORE", keys("SUNIONSTORE", "K"), small("SADD", "a", "b"), part=2)
case("SUNION of large sets", on("SUNION", "K", "K"), a_set)

case("ZADD", a_sorted_set)
case("ZADD to a sorted set", a_sorted_set, lambda key, n: [("ZADD", key, *[word for i, text in enumerate(texts(n)) for word in (n - i, text)])])
case("ZREM", members("ZREM", "K"), a_sorted_set)
case("ZMSCORE", members("ZMSCORE", "K"), a_sorted_set)
case("ZRANGE", on("ZRANGE", "K", 0, -1, "WITHSCORES"), a_sorted_set)
case("ZRANGESTORE", on("ZRANGESTORE", "to", "K", 0, -1), a_sorted_set)
case("ZREMRANGEBYRANK", on("ZREMRANGEBYRANK", "K", 0, "H"), a_sorted_set)
case("ZREMRANGEBYSCORE", on("ZREMRANGEBYSCORE", "K", 0, "H"), a_sorted_set)
case("ZPOPMIN", on("ZPOPMIN", "K", "H"), a_sorted_set)
case("ZRANDMEMBER", on("ZRANDMEMBER", "K", "H"), a_sorted_set)
for command in ("ZUNION", "ZDIFF", "ZINTER", "ZINTERCARD"):
    case(command, keys(command, "N"), small("ZADD", 1, "a", 2, "b"), part=2)
case("ZUNIONSTORE", keys("ZUNIONSTORE", "K", "N"), small("ZADD", 1, "a", 2, "b"), part=2)
case("ZUNIONSTORE of a large set", on("ZUNIONSTORE", "to", 1, "K"), a_set)
case("EXPIREMEMBER", lambda key, n: [("EXPIREMEMBER", key, text, 100) for text in texts(n)], a_sorted_set, part=2)
case("GEOADD", members("GEOADD", "K", of=places))
case("GEOPOS", members("GEOPOS", "K"), members("GEOADD", "K", of=places), part=2)
case("GEOSEARCH", on("GEOSEARCH", "K", "FROMLONLAT", 0, 0, "BYRADIUS", 22000, "km", "ASC"), members("GEOADD", "K", of=places), part=4)

case("RPUSH of integers", a_list)
case("LPUSH of integers", members("LPUSH", "K", of=ints))
case("RPUSH of empty texts", lambda key, n: [("RPUSH", key, *[""] * n)])
case("RPUSH", a_list_of_texts)
case("LPUSH", members("LPUSH", "K"))
case("RPUSHX of integers", members("RPUSHX", "K", of=ints), lambda key, n: [("RPUSH", key, 1)])
case("RPUSH one by one", lambda key, n: [("RPUSH", key, i) for i in range(n)], part=2)
for filled, what in ((a_list, "integers"), (a_list_of_texts, "texts")):
    case(f"LPOP of {what}", on("LPOP", "K", "H"), filled)
    case(f"LRANGE of {what}", on("LRANGE", "K", 0, -1), filled)
    case(f"LTRIM of {what}", on("LTRIM", "K", "H", -1), filled)
case("LINDEX in the middle", again(20, "LINDEX", "K", "H"), a_list)
case("LSET in the middle", again(20, "LSET", "K", "H", 7), a_list)
case("LINSERT", again(5, "LINSERT", "K", "BEFORE", 30_000, 3), a_list)
case("LREM", on("LREM", "K", 0, "v"), lambda key, n: [("RPUSH", key, *[f"v{i % 3 or ''}" for i in range(n)])])
case("LPOS", on("LPOS", "K", "v", "COUNT", 0), lambda key, n: [("RPUSH", key, *[f"v{i % 3 or ''}" for i in range(n)])])
case("LMOVE", lambda key, n: [("LMOVE", key, key + ":to", "LEFT", "LEFT")] * n, a_list, part=2)
case("LMPOP", keys("LMPOP", "N", after=("LEFT",)))
case("BLPOP", lambda key, n: [("BLPOP", *named(key, n), 0)], lambda key, n: [("RPUSH", f"{key}:{n - 1}", 1)])
case("SORT", on("SORT", "K", "BY", "nosort", "GET", "#"), a_list)
case("SORT by numbers", on("SORT", "K"), a_list)

case("XADD of many fields", members("XADD", "K", "*", of=pairs))
case("XADD one by one", a_stream, part=4)
case("XDEL", lambda key, n: [("XDEL", key, *[f"{i}-1" for i in range(n // 4, 3 * n // 4)])], a_stream, part=4)
case("XDEL backwards", lambda key, n: [("XDEL", key, *[f"{i}-1" for i in range(n, 0, -1)])], a_stream, part=4)
case("XTRIM", on("XTRIM", "K", "MAXLEN", "=", "H"), a_stream, part=4)
case("XRANGE", on("XRANGE", "K", "-", "+"), a_stream, part=4)
case("XREAD", lambda key, n: [("XREAD", "STREAMS", *named(key, n), *["0"] * n)], small("XADD", "1-1", "f", "v"), part=4)

case("PFADD", members("PFADD", "K"))
case("PFCOUNT", keys("PFCOUNT"), small("PFADD", "a"), part=4)
case("PFMERGE", keys("PFMERGE", "K"), small("PFADD", "a"), part=4)
case("INVALIDATE", keys("INVALIDATE"), lambda key, n: [("SET", f"{name}:v", "v", "TAGS", 1, name) for name in named(key, n)], part=2)


# ---- running them


class Reader(Client):
    def skip(self, count):
        for _ in range(count):
            self._reply()


def run_requests(client, requests):
    """Returns the last reply."""
    reply = None
    for first in range(0, len(requests), AT_ONCE):
        reply = client.pipeline(requests[first : first + AT_ONCE])[-1]
    word = requests[-1][0]
    # SUBSCRIBE and its kin answer once for each name.
    client.skip(len(requests[-1]) - 2 if "SUBSCRIBE" in word else 0)
    require(not isinstance(reply, bytes) or reply[:1] != b"-", f"{word}: {reply}")
    return reply


def measure(port, which, n, attempt, count):
    """Runs the case in a connection and with keys of its own. Returns what count(work) does, which has to call work()."""
    key = f"{which.name}:{n}:{attempt}".replace(" ", "-")
    client = Reader(port)
    try:
        if which.fill:
            run_requests(client, which.fill(key, n))
        requests = which.work(key, n)
        return count(lambda: run_requests(client, requests))
    finally:
        client.close()


class Counts:
    """The instructions of a daemon under callgrind between two PINGs."""

    def __init__(self, folder, port):
        self._folder, self._port = folder, port

    def _ping(self):
        with contextlib.closing(Client(self._port)) as client:
            client("PING")

    def _files(self):
        return sorted(os.path.join(self._folder, name) for name in os.listdir(self._folder) if name.startswith("counts."))

    def clear(self):
        self._ping()
        for name in self._files():
            os.unlink(name)

    def __call__(self, work):
        self.clear()
        work()
        self._ping()
        total = 0
        for name in self._files():
            with open(name, encoding="utf-8", errors="replace") as file:
                found = re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M)
            total += int(found[1]) if found else 0
        require(total != 0, "callgrind has counted nothing")
        return total


@contextlib.contextmanager
def counted(program):
    """A daemon under callgrind: its port, and a Counts of it."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        # The handler of PING is a function of this name; callgrind writes a file before it is entered.
        wrapper = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counts", "--dump-before=*Ping(mayfly*"]
        options = ["--port", str(port), "--bind", "127.0.0.1", "--lua-time-limit", "0"]
        with process([*wrapper, program, *options], folder, "mayfly"):
            eventually("an answer", lambda: Client(port)("ECHO", "up") == b"up")
            yield port, Counts(folder, port)


def selftest():
    assert len({which.name for which in CASES}) == len(CASES)


def compare(port, which, counts):
    """Returns how many times the work is done for twice as much, and what is wrong with that ("" for nothing)."""
    for attempt in range(TRIES):
        once, twice = (measure(port, which, n, attempt, counts) for n in (which.n, 2 * which.n))
        if twice <= MOST * once or twice <= FEW * 2 * which.n:
            return twice / once, ""
    return twice / once, f"{which.name}: {once} instructions for n = {which.n}, {twice} for twice that, the last of {TRIES} times"


def sweep(tally, program, cases):
    with counted(program) as (port, counts):
        for which in cases:
            started = time.monotonic()
            try:
                factor, problem = compare(port, which, counts)
            except (OSError, ValueError, Failed) as error:
                factor, problem = 0.0, f"{which.name}: {type(error).__name__}: {error}"
            tally.step(f"twice as much of {which.name}: x {factor:.2f}", int(not problem), int(bool(problem)), time.monotonic() - started, problem)


def run(tally, program, jobs):
    """Every case; the daemons share the machine's processors."""
    if not shutil.which("valgrind"):
        tally.step("sweep", 0, 1, 0.0, "valgrind is missing")
        return
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(sweep, tally, program, CASES[first::jobs]) for first in range(jobs)]:
            done.result()
