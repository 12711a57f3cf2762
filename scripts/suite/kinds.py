"""Keys of every kind, and what two versions of Mayfly must say about them.

A kind is what one version may have and another may lack: a type of value, or a fact beside the value, like tags. `fill` makes the
kinds and says which of them the server refuses; `look` reads values, deadlines and facts, without a trace of an access.
"""

import time
from dataclasses import dataclass

from metered import Failed, require

# Deadlines are kept to the millisecond; the clocks of two processes may be corrected in between.
SLACK_MS = 100
_LATER_MS = 40 * 3_600_000
_NO_PAYLOAD = ("file", "replica")
_NEVER_COMPARED = (b"radix-tree-keys", b"radix-tree-nodes")


@dataclass(frozen=True)
class Kind:
    """Requests that make keys; requests whose replies are facts of them; requests whose replies are milliseconds or seconds."""

    name: str
    requests: tuple
    facts: tuple = ()
    spans: tuple = ()
    databases: tuple = (0,)
    # The ways on which it goes to another server.
    by: tuple = ("file", "payload", "replica")


def _values(p):
    """Types of values that every version with files has had."""
    words = [f"word:{i}" for i in range(600)]
    date = int(time.time() * 1000) + _LATER_MS
    texts = (("SET", p + "text", "v"), ("SET", p + "number", -42), ("SET", p + "long", "abc" * 70_000), ("SET", p + "bytes", bytes(range(256))))
    yield Kind("strings", (*texts, ("SETBIT", p + "bits", 1000, 1)))
    spans = (("SET", p + "span", "v", "PX", _LATER_MS), ("SET", p + "date", "v", "PXAT", date))
    yield Kind("deadlines", (*spans, ("RPUSH", p + "dated", "a"), ("PEXPIREAT", p + "dated", date)))
    # PFCOUNT writes the count into the value, unless it stands there already.
    yield Kind("HyperLogLogs", (("PFADD", p + "counted", *words), ("PFCOUNT", p + "counted")), facts=(("PFCOUNT", p + "counted"),))
    yield Kind("lists", (("RPUSH", p + "list", "a", 1, "x" * 100), ("RPUSH", p + "longlist", *words * 3)))
    yield Kind("sets", (("SADD", p + "numbers", *range(100)), ("SADD", p + "set", "a", 1, "b"), ("SADD", p + "bigset", *words)))
    ranks = [word for i, name in enumerate(words) for word in (i / 7, name)]
    places = ("GEOADD", p + "places", 13.36, 38.11, "Palermo")
    yield Kind("sorted sets", (("ZADD", p + "ranks", 1.5, "a", "-inf", "b", 3, "c"), ("ZADD", p + "bigranks", *ranks), places))
    pairs = [word for i, name in enumerate(words) for word in (name, i)]
    yield Kind("hashes", (("HSET", p + "hash", "f", "v", "n", 7), ("HSET", p + "bighash", *pairs)))
    entries = tuple(("XADD", p + "stream", f"{i}-1", "f", i) for i in range(1, 301))
    yield Kind("streams", (*entries, ("XDEL", p + "stream", "7-1"), ("XTRIM", p + "stream", "MAXLEN", 290)))
    yield Kind("another database", (("SELECT", 3), ("SET", p + "elsewhere", "v"), ("SELECT", 0)), databases=(0, 3))


def _later_values(p):
    """Types of values, and facts that payloads of DUMP have."""
    date = int(time.time() * 1000) + _LATER_MS
    group = p + "grouped"
    yield Kind(
        "consumer groups",
        (
            *(("XADD", group, f"{i}-0", "f", i) for i in range(1, 21)),
            ("XGROUP", "CREATE", group, "g", "0"),
            ("XREADGROUP", "GROUP", "g", "ann", "COUNT", 9, "STREAMS", group, ">"),
            ("XACK", group, "g", "3-0"),
            ("XGROUP", "CREATECONSUMER", group, "g", "bob"),
        ),
        facts=(("XINFO", "GROUPS", group), ("XPENDING", group, "g")),
    )
    yield Kind(
        "deadlines of fields",
        (("HSET", p + "fields", "f", "v", "stays", "v"), ("HPEXPIREAT", p + "fields", date, "FIELDS", 1, "f")),
        facts=(("HPEXPIRETIME", p + "fields", "FIELDS", 2, "f", "stays"),),
    )


def _own(p):
    """What Mayfly alone has."""
    yield Kind(
        "tags",
        (("SET", p + "tagged", "v", "TAGS", 2, p + "t", p + "u"), ("RPUSH", p + "taggedlist", "a"), ("TAG", p + "taggedlist", p + "t")),
        facts=(("TAGS", p + "tagged"), ("TAGS", p + "taggedlist")),
        by=_NO_PAYLOAD,
    )
    yield Kind("SLIDE", (("SET", p + "session", "v", "PX", _LATER_MS, "SLIDE", "MAX", 2 * _LATER_MS),), by=_NO_PAYLOAD)
    stale = tuple(("SET", p + key, value, "PX", span, "STALE", _LATER_MS) for key, value, span in (("page", "v", _LATER_MS), ("stale", "old", 1)))
    yield Kind("STALE", stale, by=_NO_PAYLOAD)
    yield Kind(
        "deadlines of members",
        (
            ("SADDEX", p + "members", 36_000, "soon"),
            ("SADD", p + "members", "stays"),
            ("ZADD", p + "ranked", 1, "soon", 2, "stays"),
            ("EXPIREMEMBER", p + "ranked", "soon", 36_000),
        ),
        spans=(("FIELDTTL", p + "members", "soon"), ("FIELDTTL", p + "ranked", "soon")),
        by=_NO_PAYLOAD,
    )
    yield Kind("tasks", (("SET", p + "mail", "to ann", "PX", _LATER_MS, "INTO", p + "jobs"),), by=_NO_PAYLOAD)
    yield Kind("namespaces", (("SET", "shop:" + p, "v"), ("RPUSH", "shop:list:" + p, "a")), by=_NO_PAYLOAD)
    yield Kind("EXPLOG", (("SET", p + "gone", "v", "PX", 1),), facts=(("EXPLOG", "READ", 0, "VALUES"),), by=("file",))
    library = p.strip(":")
    code = f"#!lua name={library}\nredis.register_function('{library}_f', function() return 'called' end)"
    yield Kind("functions", (("FUNCTION", "LOAD", code),), facts=(("FUNCTION", "LIST", "LIBRARYNAME", library, "WITHCODE"),), by=_NO_PAYLOAD)


# Options of every version that make a difference for a kind.
OPTIONS = ("--namespace", "shop prefix shop: default-ttl 144000", "--expire-log-size", "1mb")


def of(prefix, by="file"):
    return [kind for kind in (*_values(prefix), *_later_values(prefix), *_own(prefix)) if by in kind.by]


def fill(client, chosen):
    """Makes these kinds. Returns the kinds that the server has, and {kind: its first error} of the others."""
    there, refused = [], {}
    for kind in chosen:
        errors = [reply for reply in client.pipeline(kind.requests) if isinstance(reply, bytes) and reply[:1] == b"-"]
        if errors:
            refused[kind.name] = errors[0].decode(errors="replace")
        else:
            there.append(kind)
    time.sleep(0.1)  # what is to expire at once has done so
    return there, refused


def _pairs(flat):
    return sorted(zip(flat[::2], flat[1::2]))


def _stream(client, key):
    about = dict(_pairs(client("XINFO", "STREAM", key)))
    return client("XRANGE", key, "-", "+"), {name: value for name, value in about.items() if name not in _NEVER_COMPARED}


_READ = {
    b"string": lambda client, key: client("PEEK", key),
    b"list": lambda client, key: client("LRANGE", key, 0, -1),
    b"set": lambda client, key: sorted(client("SMEMBERS", key)),
    b"zset": lambda client, key: client("ZRANGE", key, 0, -1, "WITHSCORES"),
    b"hash": lambda client, key: _pairs(client("HGETALL", key)),
    b"stream": _stream,
}


def _number(reply):
    require(reply[:1] == b":", f"{reply} is no number")
    return int(reply[1:])


@dataclass
class Seen:
    """What a server says about its keys: {name: value}, and {name: number} of what may differ a little."""

    exact: dict
    near: dict


def look(client, chosen, facts=True):
    """All keys of the databases of `chosen`, their deadlines and, if `facts`, the facts of these kinds."""
    seen = Seen({}, {})
    for database in sorted({number for kind in chosen for number in kind.databases}):
        client("SELECT", database)
        for key in client("KEYS", "*"):
            kind = client("TYPE", key)[1:]
            seen.exact[database, key] = kind, _READ[kind](client, key)
            seen.near[database, key] = _number(client("PEXPIRETIME", key))
    client("SELECT", 0)
    for kind in chosen if facts else ():
        for request in kind.facts:
            seen.exact[" ".join(map(str, request))] = client(*request)
        for request in kind.spans:
            seen.near[" ".join(map(str, request))] = _number(client(*request))
    return seen


def require_same(before, after, except_for=None):
    """`except_for`: a prefix of keys that are not compared."""

    def compared(name):
        return except_for is None or not isinstance(name, tuple) or except_for.encode() not in name[1]

    for name in filter(compared, before.exact):
        require(name in after.exact, f"{name} is missing")
        was, now = before.exact[name], after.exact[name]
        require(was == now, f"{name} was {str(was)[:300]} and is {str(now)[:300]}")
    for name in filter(compared, before.near):
        require(name in after.near, f"{name} is missing")
        was, now = before.near[name], after.near[name]
        require(abs(was - now) <= SLACK_MS, f"{name} was {was} and is {now}")
    more = set(filter(compared, after.exact)) - set(before.exact)
    require(not more, f"not there before: {sorted(map(str, more))[:10]}")


def act(client, prefix, chosen):
    """What cannot be read but happens: a session is prolonged, stale values are served, tasks wait, tags drop their keys."""
    names = {kind.name for kind in chosen}
    if "SLIDE" in names:
        before = _number(client("PEXPIRETIME", prefix + "session"))
        client("GET", prefix + "session")
        require(_number(client("PEXPIRETIME", prefix + "session")) > before, "an access does not move the deadline of SLIDE")
    if "STALE" in names:
        require(client("TAKE", prefix + "stale", "LEASE", 60_000)[:2] == [b"LEASE", b"old"], "TAKE does not have the stale value")
        client("PEXPIRE", prefix + "page", 1)
        time.sleep(0.05)
        require(client("TAKE", prefix + "page", "LEASE", 60_000)[:2] == [b"LEASE", b"v"], "the window of STALE is gone")
    if "tasks" in names:
        require(client("TIMERS", prefix + "jobs")[1][:1] == [(prefix + "mail").encode()], "TIMERS lacks a task")
    if "functions" in names:
        require(client("FCALL", prefix.strip(":") + "_f", 0) == b"called", "FCALL")
    if "tags" in names:
        require(client("INVALIDATE", prefix + "t") == b":2", "INVALIDATE does not find two keys")


def selftest():
    one, text = (0, b"k:one"), "TAGS k:one"

    def differ(before, after):
        try:
            require_same(before, after, "new:")
        except Failed:
            return True
        return False

    seen = Seen({one: b"v", text: [b"t"]}, {one: 5000})
    assert not differ(seen, Seen({**seen.exact, (0, b"new:one"): b"x"}, {one: 5000 + SLACK_MS}))
    assert differ(seen, Seen({one: b"v"}, seen.near))
    assert differ(seen, Seen({one: b"other", text: [b"t"]}, seen.near))
    assert differ(seen, Seen({one: b"v", text: []}, seen.near))
    assert differ(seen, Seen(seen.exact, {one: 5001 + SLACK_MS}))
    assert differ(seen, Seen({**seen.exact, (0, b"k:two"): b"x"}, seen.near))
    names = [kind.name for kind in of("k:")]
    assert len(set(names)) == len(names) and {kind.name for kind in of("k:", "payload")} < set(names)
