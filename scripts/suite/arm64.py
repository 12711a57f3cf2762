"""Built for arm64 and run under qemu: the tests of the floors that know neither sockets nor options, and the daemon of the package."""

import os
import shutil
import subprocess
import time
import traceback

import metered
import programs
from debian import expect, said
from repository import check_sbom
from servers import free_port

TREE = "build/test-arm64"
TARGETS = ("unit_base", "unit_resp", "unit_cache")
# qemu keeps some bytes for each page that was ever reserved. With a limit a heap reserves less: see Heap.
EMULATOR = ("prlimit", f"--as={16 << 30}", "qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu")
LIMIT_S = 600


def check_package(root):
    """The package names the libraries of arm64, and its daemon serves with them."""
    deb = said(os.path.join(root, "scripts", "package"), "--arm64").split()[-1]
    expect(said("dpkg-deb", "--field", deb, "Architecture").strip() == "arm64", deb)
    note = check_sbom(deb)
    unpacked = os.path.join(root, "build", "arm64-package")
    shutil.rmtree(unpacked, ignore_errors=True)
    said("dpkg-deb", "--extract", deb, unpacked)
    port = free_port()
    words = [*EMULATOR[:3], "-L", os.path.join(root, "build", "arm64-root"), os.path.join(unpacked, "usr", "bin", "mayfly"), "--port", str(port), "--save", ""]
    with metered.process(words, unpacked, "mayfly for arm64") as daemon:
        client = metered.eventually("a connection", lambda: metered.Client(port))
        for request, reply in (
            (("SET", "k", "v", "PX", "60000"), b"OK"),
            (("GET", "k"), b"v"),
            (("EVAL", "return redis.call('GET', KEYS[1])", "1", "k"), b"v"),
            (("ZADD", "z", "1.5", "m"), b":1"),
        ):
            answer = client(*request).lstrip(b"+")
            expect(answer == reply, f"{request}: {answer}")
    expect(daemon.returncode == 0, f"SIGTERM ended it with {daemon.returncode}")
    return f"package {os.path.getsize(deb) // 1000} KB; {note}"


def package_step(tally, root):
    started, trouble, note = time.monotonic(), "", ""
    try:
        note = check_package(root)
    except Exception:
        trouble = traceback.format_exc()
    tally.step("the package for arm64", int(not trouble), int(bool(trouble)), time.monotonic() - started, trouble)
    if note:
        print(f"  {note}", flush=True)


def run(tally, root, build, jobs):
    """`build` is what builds a tree: build(tally, tree, *options)."""
    print("Release, gcc, arm64 under qemu", flush=True)
    scripts = os.path.join(root, "scripts")
    steps = (
        [os.path.join(scripts, "install-packages"), "arm64", "package", "release"],
        [os.path.join(scripts, "unpack-packages"), "arm64", "arm64-root", os.path.join(root, "build", "arm64-root")],
    )
    for step in steps:
        if subprocess.run(step, stdin=subprocess.DEVNULL).returncode != 0:
            tally.step("packages for arm64", 0, 1, 0.0)
            return
    toolchain = "-DCMAKE_TOOLCHAIN_FILE=" + os.path.join(scripts, "arm64.cmake")
    if build(tally, TREE, "-DCMAKE_BUILD_TYPE=Release", "-DMAYFLY_TESTS=ON", toolchain, "--", *TARGETS):
        programs.run_all(tally, root, TREE, "arm64", LIMIT_S, jobs, TARGETS, EMULATOR)
    package_step(tally, root)
