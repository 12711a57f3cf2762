"""The last released version beside the present daemon: what goes from one to the other, and back.

tests/released names the version's commit. It is built once, without link-time optimisation and training, and kept in
build/released. What a version does not have yet is left out, and said: it comes in as soon as a version has it. In place of
the version, commits may be named.
"""

import os
import re
import shutil
import subprocess
import tempfile
import time

import crossed
import versions
from metered import Client, Failed, Mayfly, checked, require
from tally import heading

_OPTIONS = ("-DCMAKE_BUILD_TYPE=Release", "-DMAYFLY_TRAINED=OFF", "-DMAYFLY_LTO=OFF")
# Where to unpack what an old version needs, and the present one does not.
_SUITE = "bookworm"
_LINE = re.compile(r"^(\d+\.\d+\.\d+) ([0-9a-f]{40})$")


def last(text):
    """(version, commit) of the last line of tests/released."""
    found = [_LINE.match(line) for line in text.splitlines() if line and line[0] != "#"]
    require(found and all(found), "tests/released: each line is a version and the 40 digits of its commit")
    return found[-1].groups()


def _git(root, *words):
    return subprocess.run(["git", "-C", root, *words], stdout=subprocess.PIPE, check=True).stdout


def _unpack_source(root, commit, folder):
    archive = _git(root, "archive", commit)
    subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)


def _absent_packages(source):
    """The packages that this commit's build needs and the machine does not have."""
    with open(os.path.join(source, "scripts", "packages", "build"), encoding="utf-8") as file:
        wanted = [line.split()[0] for line in file if line.strip() and line[0] != "#"]
    said = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}\n", *wanted], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    there = {line.split()[1] for line in said.stdout.splitlines() if line.startswith("installed ")}
    return [package for package in wanted if package not in there]


def _words_for_libraries(root, source, folder):
    """Words of cmake for libraries that the present version does not need any more: they are unpacked beside the source."""
    flags, found = "-w", []  # a newer compiler has new warnings
    absent = _absent_packages(source)
    if absent:
        with open(os.path.join(folder, "packages"), "w", encoding="utf-8") as file:
            file.writelines(package + "\n" for package in absent)
        architecture = subprocess.run(["dpkg", "--print-architecture"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        libraries = os.path.join(folder, "libraries")
        scripts = os.path.join(root, "scripts")
        packages = os.path.relpath(os.path.join(folder, "packages"), os.path.join(scripts, "packages"))
        subprocess.run([os.path.join(scripts, "unpack-packages"), architecture, packages, libraries, _SUITE], check=True)
        flags += f" -isystem {libraries}/usr/include"
        found = [f"-DCMAKE_PREFIX_PATH={libraries}/usr"]
    return [*found, f"-DCMAKE_CXX_FLAGS={flags}"]


def build(root, name, commit):
    """The folder of a version: its daemon `mayfly`, and its `source`. Built unless it is there."""
    folder = os.path.join(root, "build", "released", name)
    program, stamp = os.path.join(folder, "mayfly"), os.path.join(folder, "commit")
    if os.access(program, os.X_OK) and os.path.exists(stamp) and open(stamp, encoding="utf-8").read() == commit:
        return folder
    source, tree = os.path.join(folder, "source"), os.path.join(folder, "build")
    shutil.rmtree(source, ignore_errors=True)
    os.makedirs(source)
    _unpack_source(root, commit, source)
    words = [*_OPTIONS, *_words_for_libraries(root, source, folder)]
    subprocess.run([os.path.join(source, "scripts", "build"), tree, *words, "--", "mayfly"], stdin=subprocess.DEVNULL, check=True)
    shutil.copy2(os.path.join(tree, "mayfly"), program)
    shutil.rmtree(tree)
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(commit)
    return folder


def _commands_of(program):
    with Mayfly(program) as mayfly:
        client = Client(mayfly.port)
        names = {name.decode().lower() for name in client("COMMAND", "LIST")}
        client.close()
        return names


def compare(tally, root, name, folder, present):
    """Every step for one version, as far as it has what the step is about."""
    program = os.path.join(folder, "mayfly")
    old, new = versions.Version(name, program, _commands_of(program)), versions.Version("the present one", present, _commands_of(present))
    left_out = []
    with tempfile.TemporaryDirectory() as scratch:
        steps = [
            (f"{name}: its conf file and options", (), lambda: versions.options_stay(old, new, os.path.join(folder, "source"), scratch)),
            (f"{name}: a conf file of today, and back", (), lambda: versions.options_back(old, new, root, scratch)),
            (f"{name}: its commands, INFO and metrics", (), lambda: versions.commands_stay(old, new)),
            (f"{name}: its file", ("save",), lambda: crossed.file_crosses(old, new, scratch)),
            (f"{name}: a file of today, known kinds", ("save",), lambda: crossed.file_crosses(new, old, scratch)),
            (f"{name}: a file of today, all kinds", ("save",), lambda: crossed.all_kinds_back(old, new, scratch)),
            (f"{name}: files with unknown things", ("save",), lambda: crossed.unknown_in_files(old, new, scratch)),
            (f"{name}: a master with unknown things", ("replicaof", "save"), lambda: crossed.unknown_from_a_master(old, new, scratch)),
            (f"{name}: its payloads", ("dump", "restore"), lambda: crossed.payloads_cross(old, new)),
            (f"{name}: payloads of today", ("dump", "restore"), lambda: crossed.payloads_cross(new, old)),
            (f"{name}: MIGRATE from it, and back", ("migrate",), lambda: crossed.migrate_crosses(old, new)),
            (f"{name}: a replica of today", ("psync", "replicaof", "save"), lambda: crossed.replica_follows(old, new)),
            (f"{name}: as a replica of today's master", ("replicaof", "save"), lambda: crossed.replica_follows(new, old)),
            (f"{name}: FAILOVER to today, and back", ("failover", "psync", "save"), lambda: crossed.roles_cross(old, new)),
        ]
        for title, needs, step in steps:
            lacks = [command.upper() for command in needs if command not in old.commands]
            if lacks:
                left_out.append(f"{title}: it has no {', '.join(lacks)}")
            else:
                checked(tally, title, step)
    if left_out:
        heading("    left out until a version has it:\n      " + "\n      ".join(left_out))


def run(tally, root, present, commits):
    """`commits`: what to compare with in place of the last released version."""
    with open(os.path.join(root, "tests", "released"), encoding="utf-8") as file:
        chosen = [last(file.read())]
    try:
        if commits:
            chosen = [(word, _git(root, "rev-parse", "--verify", word + "^{commit}").decode().strip()) for word in commits]
    except subprocess.CalledProcessError:
        tally.step(f"commits {' '.join(commits)}", 0, 1, 0.0, "not all of them are in this repository")
        return
    for name, commit in chosen:
        started = time.monotonic()
        try:
            folder = build(root, name.replace("/", "-"), commit)
        except (Failed, OSError, subprocess.CalledProcessError) as problem:
            tally.step(f"{name}: its build", 0, 1, time.monotonic() - started, f"{problem}\n(needs the repository's history)")
            continue
        tally.step(f"{name}: its build", 1, 0, time.monotonic() - started)
        compare(tally, root, name, folder, present)


def selftest():
    digits = "0123456789" * 4
    assert last(f"# comment\n0.1.0 {digits}\n0.2.0 {digits[::-1]}\n") == ("0.2.0", digits[::-1])
    for wrong in ("", "# 0.1.0\n", "0.1.0 0123\n", f"0.1.0 {digits}\nnext\n"):
        try:
            last(wrong)
        except Failed:
            continue
        raise AssertionError(wrong)
