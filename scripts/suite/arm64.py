"""The floors that know neither sockets nor options, built for arm64 and tested under qemu."""

import os
import subprocess

import programs

TREE = "build/test-arm64"
TARGETS = ("unit_base", "unit_resp", "unit_cache")
# qemu keeps some bytes for each page that was ever reserved. With a limit a heap reserves less: see Heap.
EMULATOR = ("prlimit", f"--as={16 << 30}", "qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu")
LIMIT_S = 600


def run(tally, root, build, jobs):
    """`build` is what builds a tree: build(tally, tree, *options)."""
    print("Release, gcc, arm64 under qemu", flush=True)
    scripts = os.path.join(root, "scripts")
    steps = (
        [os.path.join(scripts, "install-packages"), "arm64"],
        [os.path.join(scripts, "unpack-packages"), "arm64", "arm64-root", os.path.join(root, "build", "arm64-root")],
    )
    for step in steps:
        if subprocess.run(step, stdin=subprocess.DEVNULL).returncode != 0:
            tally.step("packages for arm64", 0, 1, 0.0)
            return
    toolchain = "-DCMAKE_TOOLCHAIN_FILE=" + os.path.join(scripts, "arm64.cmake")
    if build(tally, TREE, "-DCMAKE_BUILD_TYPE=Release", "-DMAYFLY_TESTS=ON", toolchain, "--", *TARGETS):
        programs.run_all(tally, root, TREE, "arm64", LIMIT_S, jobs, TARGETS, EMULATOR)
