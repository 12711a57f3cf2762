"""What a version of Mayfly has by name, and what the next must still have: options, flags, commands, fields of INFO, metrics."""

import os
import re
import subprocess
from dataclasses import dataclass

from metered import Client, Failed, Mayfly, http, require


@dataclass(frozen=True)
class Version:
    name: str
    program: str
    commands: frozenset


def said_by(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def _quoted(value):
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _options_of(version):
    """{option: value} of CONFIG GET *, of a daemon without a conf file."""
    with Mayfly(version.program) as mayfly:
        client = Client(mayfly.port)
        flat = [word.decode() for word in client("CONFIG", "GET", "*")]
        client.close()
    return dict(zip(flat[::2], flat[1::2]))


def options_stay(old, new, source, scratch):
    """The old conf file has no problem; each option is there, with each value that it had without a conf file."""
    before, after = _options_of(old), _options_of(new)
    gone = sorted(set(before) - set(after))
    require(not gone, f"options are gone: {gone}")
    code, text = said_by(new.program, "--check-config", os.path.join(source, "conf", "mayfly.conf"))
    require(code == 0 and "no problems" in text, text)
    path = os.path.join(scratch, "every.conf")
    own = ("port", "metrics-port", "bind", "dir", "save", "user", "rename-command", "replicaof", "slaveof")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{name} {_quoted(value)}\n" for name, value in before.items() if name not in own)
    code, text = said_by(new.program, "--check-config", path)
    require(code == 0 and "no problems" in text, text)
    flags = set(re.findall(r"--[a-z][a-z0-9-]+", said_by(old.program, "--help")[1])) - set(re.findall(r"--[a-z][a-z0-9-]+", said_by(new.program, "--help")[1]))
    require(not flags, f"flags are gone: {sorted(flags)}")
    changed = [f"{name} {value!r} -> {after[name]!r}" for name, value in before.items() if name not in own and after[name] != value]
    return f"{len(before)} options, {len(set(after) - set(before))} more since; other defaults: {', '.join(changed) or 'none'}"


def options_back(old, new, root, scratch):
    """The old daemon names each line of a conf file of today that it does not know. Without these lines it has no problem."""
    unknown = set(_options_of(new)) - set(_options_of(old))
    with open(os.path.join(root, "conf", "mayfly.conf"), encoding="utf-8") as file:
        lines = file.read().splitlines(keepends=True)
    path = os.path.join(scratch, "today.conf")

    def tried(kept):
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(kept)
        return said_by(old.program, "--check-config", path)

    code, text = tried(lines)
    named = {int(number) for number in re.findall(r"today\.conf:(\d+): ", text)}
    require((code == 0) == (not named), text)
    wrong = sorted(lines[number - 1].split()[0] for number in named)
    require(set(wrong) <= unknown, f"refused although it is no new option: {sorted(set(wrong) - unknown)}")
    code, text = tried([line for number, line in enumerate(lines, 1) if number not in named])
    require(code == 0 and "no problems" in text, text)
    return f"{len(wrong)} lines are named"


def _table(client):
    """{command or subcommand: (arity, whether it writes)}"""
    found = {}

    def add(rows):
        for row in rows:
            flags = {flag.lstrip(b"+") for flag in row[2]}
            found[row[0].decode().lower()] = int(row[1][1:]), b"write" in flags
            add(row[9] if len(row) > 9 else [])

    add(client("COMMAND"))
    return found


def _accepts(arity, count):
    return count == arity if arity >= 0 else count >= -arity


def _require_commands(before, after):
    require(set(before) <= set(after), f"commands are gone: {sorted(set(before) - set(after))}")
    for name, (arity, writes) in before.items():
        require(_accepts(after[name][0], abs(arity)) and (arity >= 0 or after[name][0] < 0), f"{name}: arity {arity} is {after[name][0]}")
        require(after[name][1] == writes, f"{name} writes: {writes}, {after[name][1]}")


def _figures(version):
    """Its commands, its fields of INFO, and its metrics."""
    with Mayfly(version.program) as mayfly:
        client = Client(mayfly.port)
        client.pipeline([("SET", "k", "v", "EX", 1000), ("GET", "k"), ("GET", "no")])
        table, fields = _table(client), set(client.info())
        client.close()
        metrics = set(re.findall(r"^# TYPE (\S+ \S+)", http(mayfly.metrics_port, "/metrics"), re.M))
    return table, {name for name in fields if not name.startswith(("cmdstat_", "latency_percentiles_usec_", "errorstat_"))}, metrics


def commands_stay(old, new):
    """Each command takes as few words as before, and reads or writes as before. Each figure has its name still."""
    (before, fields_before, metrics_before), (after, fields_after, metrics_after) = _figures(old), _figures(new)
    _require_commands(before, after)
    require(fields_before <= fields_after, f"fields of INFO are gone: {sorted(fields_before - fields_after)}")
    require(metrics_before <= metrics_after, f"metrics are gone: {sorted(metrics_before - metrics_after)}")
    return f"{len(before)} commands and subcommands, {len(fields_before)} fields of INFO, {len(metrics_before)} metrics"


def selftest():
    before = {"get": (2, False), "set": (-3, True)}
    _require_commands(before, {"get": (-2, False), "set": (-2, True), "more": (1, False)})
    changed = ({"get": (3, False)}, {"set": (3, True)}, {"set": (-4, True)}, {"get": (2, True)})
    for after in ({"set": (-3, True)}, *({**before, **one} for one in changed)):
        try:
            _require_commands(before, after)
        except Failed:
            continue
        raise AssertionError(after)
