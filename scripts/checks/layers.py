"""No #include runs upward, only src/net and src/main.cc know libuv, and only src/net knows OpenSSL's TLS."""

import re

from source import is_code, line_of

# What each floor may include beside itself. A floor that is not listed may not exist.
_LOW = {"base": set(), "config": {"base"}, "resp": {"base"}, "cache": {"base"}}
_SERVER = {"cache", "resp", "config", "base"}
_EXEC = _SERVER | {"server"}
_WIDE = _EXEC | {"exec"}
_COMMANDS = _WIDE | {"script", "snapshot"}
_NET = _COMMANDS | {"commands"}
MAY_INCLUDE = _LOW | {
    "server": _SERVER,
    "exec": _EXEC,
    "script": _WIDE,
    "snapshot": _WIDE,
    "commands": _COMMANDS,
    "net": _NET,
    "main": _NET | {"net"},
}
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">\n]+)[">]', re.M)


def floor_of(path):
    """The floor whose rules hold for a file: src/<floor>/..., src/main.cc, tests/unit/<floor>/... ; else None."""
    parts = path.split("/")
    if parts[0] == "src" and len(parts) > 1:
        return "main" if len(parts) == 2 else parts[1]
    if parts[:2] == ["tests", "unit"] and len(parts) > 3:
        return parts[2]
    return None


def find(files):
    wrong = []
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
                continue
            if ".." in name.split("/"):
                wrong.append(f'{spot}: "{name}" is not relative to src/')
            if path.startswith("tests/") and name.startswith("support/"):
                continue
            if path.startswith("tests/"):
                name = name.removeprefix("unit/")
            target = name.split("/")[0]
            if "/" not in name or (target != floor and target not in MAY_INCLUDE[floor]):
                wrong.append(f'{spot}: {floor} may not include "{name}"')
    return wrong


def selftest():
    good = {
        "src/base/clock.h": "#include <vector>\n",
        "src/cache/types/list.h": '#include "cache/entry.h"\n#include "base/clock.h"\n',
        "src/net/loop.cc": '#include <uv.h>\n#include "commands/x.h"\n',
        "src/net/tls/context.h": "#include <openssl/ssl.h>\n",
        "src/base/sha1.cc": "#include <openssl/evp.h>\n",
        "src/main.cc": '#include <uv.h>\n#include "net/loop.h"\n',
        "tests/unit/net/loop_test.cc": '#include <uv.h>\n#include "support/x.h"\n',
        "tests/unit/cache/lru_test.cc": '#include "unit/cache/fixture.h"\n#include "cache/lru.h"\n',
        "tests/commands/x_test.cc": '#include "commands/x.h"\n',
    }
    bad = {
        "src/base/clock.cc": '#include "cache/entry.h"\n',
        "src/cache/entry.cc": '#include "resp/parser.h"\n',
        "src/resp/parser.cc": '#include "config/options.h"\n',
        "src/script/lua.cc": '#include "snapshot/rdb.h"\n',
        "src/server/clients.cc": "#  include <uv.h>\n",
        "src/config/tls.cc": "#include <openssl/ssl.h>\n",
        "src/exec/table.cc": '#include "../base/clock.h"\n',
        "src/server/stats.cc": '#include "clients.h"\n',
        "src/attic/a.cc": "",
        "tests/unit/base/clock_test.cc": '#include "cache/entry.h"\n',
        "tests/unit/base/hash_test.cc": '#include "unit/cache/fixture.h"\n',
        "src/base/output.h": '#include "unit/base/fixture.h"\n',
    }
    assert find(good) == [], find(good)
    for path, text in bad.items():
        assert find({path: text}), path
