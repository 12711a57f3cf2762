"""The servers that tests and benchmarks compare with: peers.py FOLDER LIST... puts their programs into FOLDER.

They are of fixed versions, whatever this machine has: unpacked from the Debian release that has them into FOLDER/unpacked, with
the C library and all others that they were linked with there. A program of FOLDER is a script that starts one of them with its
own loader. The programs act by the name that they are called by, so a link to such a script may have another name.
"""

import os
import platform
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

# List of scripts/packages: the suites of Debian that have it, and name here -> program there.
PEERS = {
    "redis7": (
        ["bookworm"],
        {"redis-server": "redis-check-rdb", "redis-check-rdb": "redis-check-rdb", "redis-cli": "redis-cli", "redis-benchmark": "redis-benchmark"},
    ),
    "redis8": (["trixie"], {"redis-server-8": "redis-check-rdb"}),
    "valkey": (["bookworm", "bookworm-backports"], {"valkey-server": "valkey-check-rdb"}),
    "memcached": (["bookworm"], {"memcached": "memcached"}),
}
# Those of the tests.
ORACLES = ("redis7", "redis8", "valkey")

# Architecture of the machine: Debian's name, the folder of its libraries, their loader.
_MACHINES = {
    "x86_64": ("amd64", "x86_64-linux-gnu", "ld-linux-x86-64.so.2"),
    "aarch64": ("arm64", "aarch64-linux-gnu", "ld-linux-aarch64.so.1"),
}


def missing_after(folder, names=ORACLES):
    """Makes the programs of these lists in `folder` unless they are there. Returns the lists that could not be had."""
    return [name for name in names if not _provide(folder, name)]


def line_buffered(folder):
    """Variables for the environment of redis-cli, with which it writes each line at once. That is what stdbuf does, with a library
    that fits this redis-cli's C library and not the machine's."""
    return {"LD_PRELOAD": os.path.join(folder, "unpacked", "redis7", "usr", "libexec", "coreutils", "libstdbuf.so"), "_STDBUF_O": "L"}


def _provide(folder, name):
    suites, programs = PEERS[name]
    if platform.machine() not in _MACHINES:
        print(f"mayfly: there is no {name} for {platform.machine()} here", flush=True)
        return False
    architecture, triplet, loader = _MACHINES[platform.machine()]
    unpacked = os.path.join(folder, "unpacked", name)
    unpack = [os.path.join(ROOT, "scripts", "unpack-packages"), architecture, name, unpacked, *suites]
    if subprocess.run(unpack, stdin=subprocess.DEVNULL).returncode != 0:
        return False
    # Until Debian 12 the C library is in /lib.
    libraries = [os.path.join(unpacked, part, triplet) for part in ("lib", "usr/lib")]
    libraries = [library for library in libraries if os.path.isdir(library)]
    loader = next(path for path in (os.path.join(library, loader) for library in libraries) if os.path.exists(path))
    for called, program in programs.items():
        path = os.path.join(unpacked, "usr", "bin", program)
        _write_script(os.path.join(folder, called), f"exec '{loader}' --argv0 \"$0\" --library-path '{':'.join(libraries)}' '{path}' \"$@\"")
    return True


def _write_script(path, line):
    text = f"#!/bin/sh\n{line}\n"
    if os.path.isfile(path) and open(path, encoding="utf-8").read() == text:
        return
    if os.path.lexists(path):
        os.remove(path)
    with open(path, "w", encoding="utf-8") as script:
        script.write(text)
    os.chmod(path, 0o755)


def main():
    folder, *names = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for name in missing_after(os.path.realpath(folder), names):
        print(f"mayfly: nothing is compared with {name}", file=sys.stderr)


if __name__ == "__main__":
    main()
