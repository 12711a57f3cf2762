"""Keys that go from one version of Mayfly to the other, by file, payload or stream: each public function is a step of
scripts/test --released."""

import os
import shutil

import kinds
import pretended
from metered import Client, Mayfly, eventually, require
from versions import said_by

_WORDS = ("--enable-debug-command", "local", *kinds.OPTIONS)
# One byte as type of a value, and a version of a file, that no server has.
_NO_TYPE, _NO_VERSION = b"\xc8", b"9998"


def _digest(client):
    return client("DEBUG", "DIGEST")


def _known(old, new, by="file"):
    """A function of a prefix: the kinds that both versions have, of those that go this way."""
    found = []
    for version in (old, new):
        with Mayfly(version.program, *_WORDS) as mayfly:
            client = Client(mayfly.port)
            found.append(kinds.fill(client, kinds.of("k:", by)))
            client.close()
    names = {kind.name for kind in found[0][0]} & {kind.name for kind in found[1][0]}
    require(names, found)
    return lambda prefix: [kind for kind in kinds.of(prefix, by) if kind.name in names]


def _save(version, chosen, folder, more=()):
    """Makes these kinds and `more`, and saves them. Returns what was seen of `chosen`, and the digest."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with Mayfly(version.program, "--dir", folder, *_WORDS) as mayfly:
        client = Client(mayfly.port)
        _, refused = kinds.fill(client, [*chosen, *more])
        require(not refused, refused)
        require(client("SAVE") == b"+OK", "SAVE fails")
        seen = kinds.look(client, chosen), _digest(client)
        client.close()
    return seen


def _check_file(version, folder):
    return said_by(version.program, "--check-rdb", os.path.join(folder, "dump.rdb"))


def file_crosses(writer, reader, scratch):
    """The reader says the same of each key, deadline and fact as the writer, and acts as the writer would."""
    chosen, folder = _known(writer, reader)("k:"), os.path.join(scratch, "file")
    before, digest = _save(writer, chosen, folder)
    code, text = _check_file(reader, folder)
    require(code == 0 and "no problems" in text, text)
    with Mayfly(reader.program, "--dir", folder, *_WORDS) as mayfly:
        client = Client(mayfly.port)
        kinds.require_same(before, kinds.look(client, chosen))
        require(_digest(client) == digest, "DEBUG DIGEST differs")
        kinds.act(client, "k:", chosen)
        client.close()
    require(os.listdir(folder) == ["dump.rdb"], os.listdir(folder))
    return f"{len(before.near)} keys and deadlines of {len(chosen)} kinds: {', '.join(kind.name for kind in chosen)}"


def all_kinds_back(old, new, scratch):
    """Also with kinds that the old version lacks, the keys of the others are loaded."""
    known, folder = _known(old, new)("k:"), os.path.join(scratch, "file")
    names = {kind.name for kind in known}
    unknown = [kind for kind in kinds.of("new:") if kind.name not in names]
    before, _ = _save(new, known, folder, unknown)
    code, text = _check_file(old, folder)
    with Mayfly(old.program, "--dir", folder, *_WORDS) as mayfly:
        client = Client(mayfly.port)
        if code == 0:
            kinds.require_same(before, kinds.look(client, known), "new:")
        else:
            require(os.path.exists(os.path.join(folder, "dump.rdb.damaged")), f"{text}\n{os.listdir(folder)}")
        client.close()
    return f"unknown to it: {', '.join(kind.name for kind in unknown) or 'nothing'}; --check-rdb ended with {code}"


def _text(word):
    return bytes([len(word)]) + word


def _start(version, folder, data):
    """Starts with a folder that has this file alone. Returns the keys, the folder's files, and the words of --check-rdb."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(os.path.join(folder, "dump.rdb"), "wb") as file:
        file.write(data)
    code, text = _check_file(version, folder)
    with Mayfly(version.program, "--dir", folder) as mayfly:
        client = Client(mayfly.port)
        keys = sorted(client("KEYS", "*"))
        client.close()
    return keys, sorted(os.listdir(folder)), code, text


def _steps_of(byte):
    for _ in range(8):
        byte = byte >> 1 ^ (0x95AC9329AC4BC9B5 if byte & 1 else 0)
    return byte


_STEPS = [_steps_of(byte) for byte in range(256)]


def _checksum(data):
    """CRC-64 of Jones, as at the end of a file."""
    sum64 = 0
    for byte in data:
        sum64 = sum64 >> 8 ^ _STEPS[(sum64 ^ byte) & 0xFF]
    return sum64.to_bytes(8, "little")


def _whole(*parts):
    data = b"".join(parts) + b"\xff"
    return data + _checksum(data)


def _edited(new, folder):
    """{what: file}: a file of today with five keys as it is, and edited as a later version might write it."""
    _save(new, [kind for kind in kinds.of("k:") if kind.name == "strings"], folder)
    with open(os.path.join(folder, "dump.rdb"), "rb") as file:
        data = file.read()
    head, body = data[:9], data[9:-9]
    require(_whole(head, body) == data, "the end of a file is not as expected")
    return {
        "nothing": data,
        "field": _whole(head, b"\xfa", _text(b"mayfly-later"), _text(b"x"), body),
        "type": _whole(head, body, _NO_TYPE, _text(b"later"), _text(b"x")),
        "version": _whole(head[:5], _NO_VERSION, body),
    }


# Unknown thing: what a start with the file leaves: keys, the folder's file, and the exit code of --check-rdb.
_LEFT = {"nothing": (5, ["dump.rdb"], 0), "field": (5, ["dump.rdb"], 0), "type": (5, ["dump.rdb.damaged"], 1), "version": (0, ["dump.rdb.unknown"], 1)}


def unknown_in_files(old, new, scratch):
    """The old version does what docs/upgrade.md says about a file of a later one."""
    folder = os.path.join(scratch, "file")
    for what, data in _edited(new, folder).items():
        keys, files, code, text = _start(old, folder, data)
        require((len(keys), files, code) == _LEFT[what], f"unknown {what}: {keys, files, text}")


def unknown_from_a_master(old, new, scratch):
    """As a replica of a later version, the old version does what docs/upgrade.md says."""
    edited = _edited(new, os.path.join(scratch, "file"))
    stream = (("SET", "before", "v"), ("NOSUCHCOMMAND", "a", "b"), ("SET", "after", "v"))
    with Mayfly(old.program) as mayfly, pretended.Master(edited["field"], *stream) as master:
        client = Client(mayfly.port)
        client("REPLICAOF", "127.0.0.1", master.port)
        eventually("the stream", lambda: client("EXISTS", "k:text", "before", "after") == b":3")
        info = client.info()
        require((info["master_failed_commands"], info["master_link_status"]) == ("1", "up"), "an unknown command of the stream")
        client.close()
    for what, left in (("type", 6), ("version", 1)):  # the replica's own key, and those before the unknown type
        with Mayfly(old.program) as mayfly, pretended.Master(edited[what]) as master:
            client = Client(mayfly.port)
            client("SET", "own", "v")
            client("REPLICAOF", "127.0.0.1", master.port)
            eventually(f"a second request after a snapshot with an unknown {what}", lambda m=master: m.snapshots >= 2)
            keys = client("KEYS", "*")
            require(b"own" in keys and len(keys) == left, f"a snapshot with an unknown {what} leaves {keys}")
            require(client.info()["master_link_status"] == "down", f"an unknown {what}: the link is up")
            client.close()


def payloads_cross(writer, reader):
    """DUMP of each key, and RESTORE at the other."""
    chosen = _known(writer, reader, "payload")("k:")
    with Mayfly(writer.program) as one, Mayfly(reader.program) as other:
        source, target = Client(one.port), Client(other.port)
        kinds.fill(source, chosen)
        before = kinds.look(source, chosen)
        for database, key in before.near:
            deadline = max(before.near[database, key], 0)
            payload = source.pipeline([("SELECT", database), ("DUMP", key)])[1]
            said = target.pipeline([("SELECT", database), ("RESTORE", key, deadline, payload, "ABSTTL")])[1]
            require(said == b"+OK", f"{key}: {said}")
        kinds.require_same(before, kinds.look(target, chosen))
        for client in (source, target):
            client.close()
    return f"{len(before.near)} keys of {len(chosen)} kinds"


def migrate_crosses(old, new):
    chosen = [kind for kind in _known(old, new, "payload")("k:") if kind.databases == (0,)]
    with Mayfly(old.program) as one, Mayfly(new.program) as other:
        source, target = Client(one.port), Client(other.port)
        kinds.fill(source, chosen)
        before = kinds.look(source, chosen)
        for at, to, port in ((source, target, other.port), (target, source, one.port)):
            said = at("MIGRATE", "127.0.0.1", port, "", 0, 20_000, "KEYS", *[key for _, key in before.near])
            require(said == b"+OK" and at("DBSIZE") == b":0", f"MIGRATE: {said}")
            kinds.require_same(before, kinds.look(to, chosen))
        for client in (source, target):
            client.close()
    return f"{len(before.near)} keys"


def _in_step(master, replica):
    """Waits until the replica has the whole stream."""
    eventually("the link", lambda: replica.info()["master_link_status"] == "up")
    require(master("WAIT", 1, 60_000) == b":1", "the replica does not confirm")
    require(replica.info()["master_failed_commands"] == "0", "commands of the stream failed")


def _more_changes(client, chosen):
    """Changes that come by the stream: every kind, what happens to keys of the snapshot, and removals of each sort."""
    _, refused = kinds.fill(client, chosen("later:"))
    require(not refused, refused)
    requests = [("RPUSH", "k:list", "more"), ("SADD", "k:set", "more"), ("ZINCRBY", "k:ranks", 1, "a"), ("HDEL", "k:hash", "f")]
    requests += [("APPEND", "k:text", "more"), ("XADD", "k:stream", "*", "f", "more"), ("RENAME", "k:numbers", "k:renamed"), ("DEL", "k:bigset")]
    requests += [("PEXPIRE", "k:dated", 7_200_000), ("PERSIST", "k:span"), ("EVAL", "return redis.call('incr', KEYS[1])", 1, "k:number")]
    requests += [("MULTI",), ("SET", "k:one", 1), ("SET", "k:two", 2), ("EXEC",), ("SET", "k:gone", "v", "PX", 50)]
    for request, said in zip(requests, client.pipeline(requests)):
        require(not (isinstance(said, bytes) and said[:1] == b"-"), f"{request}: {said}")
    if any(kind.name == "tags" for kind in chosen("k:")):
        require(client("INVALIDATE", "later:t") == b":2", "INVALIDATE")
    eventually("an expired key", lambda: client("EXISTS", "k:gone") == b":0")


def _followed(master, replica, chosen):
    """The replica has what the master has, from the snapshot and from the stream."""
    of_both = [*chosen("k:"), *[kind for kind in chosen("later:") if kind.name != "tags"]]
    _in_step(master, replica)
    kinds.require_same(kinds.look(master, of_both), kinds.look(replica, of_both))
    eventually("equal digests", lambda: _digest(master) == _digest(replica))


def replica_follows(leader, follower):
    """A snapshot and then a stream of everything that both know. What only a newer master knows breaks no link."""
    chosen = _known(leader, follower, "replica")
    with Mayfly(leader.program, *_WORDS) as one:
        master = Client(one.port)
        kinds.fill(master, chosen("k:"))
        with Mayfly(follower.program, *_WORDS, "--replicaof", f"127.0.0.1 {one.port}") as other:
            replica = Client(other.port)
            _in_step(master, replica)
            _more_changes(master, chosen)
            _followed(master, replica, chosen)
            names = {kind.name for kind in chosen("k:")}
            unknown = [kind for kind in kinds.of("new:", "replica") if kind.name not in names]
            there, _ = kinds.fill(master, unknown)
            require(master("WAIT", 1, 60_000) == b":1", "the replica does not confirm")
            info = replica.info()
            require((info["master_link_status"], info["master_full_syncs"]) == ("up", "1"), "the link did not hold")
            replica.close()
        master.close()
    said = f"; unknown to it: {', '.join(kind.name for kind in there)}, {info['master_failed_commands']} commands failed" if there else ""
    return f"{len(names)} kinds{said}"


def roles_cross(old, new):
    """An upgrade and the way back by docs/upgrade.md: FAILOVER to the newer version, writes there, FAILOVER to the older one."""
    chosen = _known(old, new, "replica")
    with Mayfly(old.program, *_WORDS) as one, Mayfly(new.program, *_WORDS, "--replicaof", f"127.0.0.1 {one.port}") as other:
        master, replica = Client(one.port), Client(other.port)
        kinds.fill(master, chosen("k:"))
        _in_step(master, replica)
        for turn in ("there", "back"):
            require(master("FAILOVER") == b"+OK", f"FAILOVER {turn}")
            eventually(f"the roles, {turn}", lambda: (master.info()["role"], replica.info()["role"]) == ("slave", "master"))
            master, replica = replica, master
            _in_step(master, replica)
            require(master("SET", f"written {turn}", "v") == b"+OK", "the new master refuses a write")
            if turn == "there":
                _more_changes(master, chosen)
            _followed(master, replica, chosen)
        require(replica.info()["master_full_syncs"] <= "1", "a handover led to another snapshot")
        for client in (master, replica):
            client.close()


def selftest():
    assert _checksum(b"123456789") == (0xE9C6D914C4B8D9CA).to_bytes(8, "little")
