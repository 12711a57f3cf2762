"""No #include runs upward, neither between floors nor between the rooms of one; only src/net and src/main.cc know libuv, and
only src/net knows OpenSSL's TLS, and a single source Boost.Beast. The drawing of the floors in src/README.md is made from the tables here."""

import re

from source import is_code, line_of

# What each floor may include beside itself. A floor that is not listed may not exist.
_CACHE, _SERVER = {"base"}, {"cache", "resp", "config", "base"}
_EXEC = _SERVER | {"server"}
MAY_INCLUDE = {
    "base": set(),
    "config": {"base"},
    "resp": {"base"},
    "cache": _CACHE,
    "server": _SERVER,
    "exec": _EXEC,
    "script": _EXEC | {"exec"},
    "snapshot": _EXEC | {"exec"},
    "replication": _EXEC | {"exec", "snapshot"},
    "commands": _EXEC | {"exec", "script", "snapshot", "replication"},
    "net": _EXEC | {"exec"},
    "main": _EXEC | {"exec", "script", "snapshot", "replication", "commands", "net"},
}
# The rooms of a floor, the lowest one first: a room may include those before it. "." stands for the files that are in no room.
# A floor that is not listed has no rooms.
ROOMS = {
    "base": (".", "text", "bits", "memory", "time", "log"),
    "config": (".", "sources"),
    "cache": ("table", "entry", "time", "owners", "gone", "types", "changes", "tags", "keyspace", "evict", "."),
    "server": ("hubs", "figures", "acl", "clients", "waiting", "watch", "cluster", "."),
    "exec": ("call", "memory", "cluster", "observe", "acl", "dispatch", "arguments", "values", "docs", "info", "metrics", "."),
    "script": ("lua", "libraries", "."),
    "snapshot": ("format", "values", "large", "disk", "."),
    "net": ("socket", "process", "tls", "client", "http", "."),
}
# Rooms that may include fewer floors than their floor may.
ROOM_MAY_INCLUDE = {("snapshot", "format"): {"base"}, ("snapshot", "values"): {"base", "cache"}, ("snapshot", "disk"): {"base"}}
# The only source that may include Boost.Beast.
BEAST_USER = "src/net/http/request_parser.cc"
# In a folder.
MOST_FILES = 36
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">\n]+)[">]', re.M)


def floor_of(path):
    """The floor whose rules hold for a file: src/<floor>/..., src/main.cc, tests/unit/<floor>/... ; else None."""
    parts = path.split("/")
    if parts[0] == "src" and len(parts) > 1:
        return "main" if len(parts) == 2 else parts[1]
    if parts[:2] == ["tests", "unit"] and len(parts) > 3:
        return parts[2]
    return None


def _room_of(floor, path):
    """The room of a file src/<path>; None if the floor has no such room."""
    parts = path.split("/")
    room = parts[1] if len(parts) > 2 else "."
    return room if room in ROOMS[floor] else None


def _floors_below(path, floor):
    """The floors that a file may include beside its own."""
    parts = path.split("/")
    room = parts[2] if parts[0] == "src" and len(parts) > 3 else "."
    return ROOM_MAY_INCLUDE.get((floor, room), MAY_INCLUDE[floor])


def _wrong_room(path, floor, name):
    """What is wrong with an include within a floor, or None."""
    if floor not in ROOMS or not path.startswith("src/"):
        return None
    here, there = _room_of(floor, path.removeprefix("src/")), _room_of(floor, name)
    if here is None or there is None:
        return f"src/{floor} has no such room"
    if ROOMS[floor].index(there) > ROOMS[floor].index(here):
        return f"the room {here} is below {there}"
    return None


def drawing():
    """The floors and their rooms, from the highest to the lowest."""
    floors = list(MAY_INCLUDE)[::-1]
    widest = max(map(len, floors))
    lines = []
    for floor in floors:
        below = [other for other in floors if other in MAY_INCLUDE[floor]]
        # Those that are reached through another one are not drawn.
        near = [other for other in below if not any(other in MAY_INCLUDE[third] for third in below)]
        line = f"{floor:<{widest}} -> {', '.join(near)}" if near else floor
        lines.append(line)
        rooms = ROOMS.get(floor, ())
        if rooms:
            lines.append(f"{'':<{widest}}      rooms: " + " > ".join("its own files" if room == "." else room for room in rooms[::-1]))
    return "".join(f"    {line}\n" for line in lines)


def _crowded(files):
    """Folders of src with too many files."""
    count = {}
    for path in files:
        if path.startswith("src/") and is_code(path):
            folder = path.rsplit("/", 1)[0]
            count[folder] = count.get(folder, 0) + 1
    return [
        f"{folder}: {number} files; at most {MOST_FILES} are in a folder, which has rooms then"
        for folder, number in count.items()
        if number > MOST_FILES
    ]


def find(files):
    wrong = _crowded(files)
    for path, text in files.items():
        floor = floor_of(path)
        if floor is None or not is_code(path):
            continue
        if floor not in MAY_INCLUDE:
            wrong.append(f"{path}: no floor is called {floor}")
            continue
        for match in _INCLUDE.finditer(text):
            kind, name = match.groups()
            spot = f"{path}:{line_of(text, match.start())}"
            if kind == "<":
                if re.match(r"uv(\.h|/)", name) and floor not in ("net", "main"):
                    wrong.append(f"{spot}: {floor} includes <{name}>, which only net and main.cc may")
                if name == "openssl/ssl.h" and floor != "net":
                    wrong.append(f"{spot}: {floor} includes <{name}>, which only net may")
                if name.startswith("boost/beast/") and path != BEAST_USER:
                    wrong.append(f"{spot}: <{name}> takes seconds to compile; only {BEAST_USER} includes it")
                continue
            if ".." in name.split("/"):
                wrong.append(f'{spot}: "{name}" is not relative to src/')
            if path.startswith("tests/") and name.startswith("support/"):
                continue
            if path.startswith("tests/"):
                name = name.removeprefix("unit/")
            target = name.split("/")[0]
            if "/" not in name or (target != floor and target not in _floors_below(path, floor)):
                wrong.append(f'{spot}: {floor} may not include "{name}"')
            elif target == floor and (trouble := _wrong_room(path, floor, name)):
                wrong.append(f'{spot}: "{name}": {trouble}')
    return wrong


def selftest():
    good = {
        "src/base/time/clock.h": "#include <vector>\n",
        "src/cache/types/list.h": '#include "cache/entry/entry.h"\n#include "base/time/clock.h"\n',
        "src/net/loop.cc": '#include <uv.h>\n#include "exec/call/x.h"\n#include "net/client/x.h"\n',
        "src/net/tls/context.h": "#include <openssl/ssl.h>\n",
        BEAST_USER: "#include <boost/beast/http/basic_parser.hpp>\n",
        "src/base/bits/sha1.cc": "#include <openssl/evp.h>\n",
        "src/snapshot/save.cc": '#include "exec/call/x.h"\n#include "snapshot/format/x.h"\n',
        "src/snapshot/format/x.cc": '#include "base/x.h"\n',
        "src/main.cc": '#include <uv.h>\n#include "net/loop.h"\n',
        "tests/unit/net/loop_test.cc": '#include <uv.h>\n#include "support/x.h"\n',
        "tests/unit/cache/lru_test.cc": '#include "unit/cache/fixture.h"\n#include "cache/lru.h"\n',
        "tests/commands/x_test.cc": '#include "commands/x.h"\n',
    }
    bad = {
        "src/base/time/clock.cc": '#include "cache/entry/entry.h"\n',
        "src/cache/entry/entry.cc": '#include "resp/parser.h"\n',
        "src/resp/parser.cc": '#include "config/sources/options.h"\n',
        "src/script/lua.cc": '#include "net/loop.h"\n',
        "src/server/clients.cc": "#  include <uv.h>\n",
        "src/config/tls.cc": "#include <openssl/ssl.h>\n",
        "src/net/http/request_parser.h": "#include <boost/beast/http/basic_parser.hpp>\n",
        "src/exec/table.cc": '#include "../base/clock.h"\n',
        "src/server/figures/stats.cc": '#include "clients.h"\n',
        "src/attic/a.cc": "",
        "src/snapshot/format/x.cc": '#include "cache/entry/x.h"\n',
        "src/snapshot/format/y.cc": '#include "snapshot/save.h"\n',
        "src/script/engine.cc": '#include "snapshot/save.h"\n',
        "src/net/port.cc": '#include "snapshot/save.h"\n',
        "tests/unit/base/clock_test.cc": '#include "cache/entry/entry.h"\n',
        "src/net/loop.cc": '#include "commands/x.h"\n',
        "src/cache/table/table.h": '#include "cache/entry/entry.h"\n',
        "src/cache/entry/entry.h": '#include "cache/databases.h"\n',
        "src/cache/cellar/entry.h": '#include "cache/entry/entry.h"\n',
        "tests/unit/base/hash_test.cc": '#include "unit/cache/fixture.h"\n',
        "src/base/memory/output.h": '#include "unit/base/fixture.h"\n',
    }
    assert find(good) == [], find(good)
    for path, text in bad.items():
        assert find({path: text}), path
    assert find({f"src/cache/entry/{number}.h": "" for number in range(MOST_FILES + 1)})
    assert re.search("^    exec +-> server\n", drawing(), re.M), drawing()
    assert re.search("^    main +-> net, commands\n", drawing(), re.M), drawing()
    assert "rooms: its own files > evict > keyspace" in drawing(), drawing()
