"""Every test and check of the project, those that fail soonest first. See scripts/test."""

import argparse
import os
import subprocess
import sys
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import arm64
import clients
import fuzz
import image
import metrics
import page
import package
import pasted
import programs
import sharding
import shown
import sweep
import tidy
from tally import Tally, heading

RELEASE = "build/test-release"
# The benchmarks are built but not run, so that they still compile when somebody needs them.
RELEASE_OPTIONS = ("-DCMAKE_BUILD_TYPE=Release", "-DMAYFLY_TESTS=ON", "-DMAYFLY_BENCH=ON", "-DCMAKE_CXX_COMPILER=g++")
SANITIZED = "build/test-asan"
LIMIT_S = 300
SANITIZED_LIMIT_S = 600


def script(name):
    return os.path.join(ROOT, "scripts", name)


def build(tally, tree, *options):
    """Builds a tree. A failed build counts as one failure; scripts/build has shown its messages."""
    command = [script("build"), os.path.join(ROOT, tree), *options]
    if subprocess.run(command, stdin=subprocess.DEVNULL).returncode == 0:
        return True
    tally.step(f"build of {tree}", 0, 1, 0.0)
    return False


def checks(tally):
    programs.selftest()
    clients.selftest()
    sweep.selftest()
    shown.selftest()
    listed = subprocess.run([script("check"), "--list"], stdout=subprocess.PIPE, check=True).stdout.decode().split()
    tally.run("the checks can fail", [script("check"), "--selftest"])
    for name in listed:
        tally.run(f"check: {name}", [script("check"), name])
    tally.run("scripts/bench: its runner", [script("bench"), "--selftest"])
    tally.run("check: format", [script("format"), "--check"])


def jobs_at_once():
    return int(os.environ.get("JOBS") or 0) or len(os.sched_getaffinity(0))


def everything(tally, quick):
    jobs = jobs_at_once()

    heading("Checks")
    checks(tally)

    heading("Release, gcc")
    if build(tally, RELEASE, *RELEASE_OPTIONS):
        programs.run_all(tally, ROOT, RELEASE, "release", LIMIT_S, jobs)
        tally.run("training (release)", [os.path.join(ROOT, RELEASE, "tests", "training")])
        pasted.run(tally, os.path.join(ROOT, RELEASE, "mayfly"), jobs)
        heading("Twice as much, instructions counted")
        sweep.run(tally, os.path.join(ROOT, RELEASE, "mayfly"), jobs)

    if not quick:
        heading("Debug, clang, address and undefined-behaviour sanitizers")
        options = ["-DCMAKE_BUILD_TYPE=Debug", "-DMAYFLY_SANITIZE=ON", "-DMAYFLY_TESTS=ON", "-DMAYFLY_FUZZ=ON", "-DMAYFLY_BENCH=ON"]
        options += ["-DCMAKE_CXX_COMPILER=clang++-14", "-DCMAKE_CXX_FLAGS_DEBUG=-gline-tables-only"]
        if build(tally, SANITIZED, *options):
            programs.run_all(tally, ROOT, SANITIZED, "sanitized", SANITIZED_LIMIT_S, jobs)
            heading("Fuzz targets and clang-tidy")
            fuzz.run_all(tally, ROOT, SANITIZED, programs.environment(ROOT), jobs)
            tidy.run(tally, ROOT, SANITIZED, jobs)


def real_clients(tally, words):
    # A misspelt name fails before the build.
    clients.chosen(words)
    if build(tally, RELEASE, *RELEASE_OPTIONS, "--", "mayfly"):
        clients.run(tally, os.path.join(ROOT, RELEASE, "mayfly"), jobs_at_once(), words)
        if not words:
            pasted.run(tally, os.path.join(ROOT, RELEASE, "mayfly"), jobs_at_once())  # with the libraries


def with_daemon(tally, packages, check):
    """A check of its own, of the release's daemon, that needs more packages."""
    if packages and not tally.run(f"packages: {' '.join(packages)}", [script("install-packages"), *packages]):
        return
    if build(tally, RELEASE, *RELEASE_OPTIONS, "--", "mayfly"):
        check(tally, ROOT, os.path.join(ROOT, RELEASE, "mayfly"))


def proxies(tally):
    if build(tally, RELEASE, *RELEASE_OPTIONS, "--", "mayfly"):
        sharding.run(tally, os.path.join(ROOT, RELEASE, "mayfly"))


def main():
    parser = argparse.ArgumentParser(prog="scripts/test", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="no sanitizers, no fuzzing, no clang-tidy")
    parser.add_argument("--arm64", action="store_true", help="only: the lower floors' tests, built for arm64, under qemu")
    parser.add_argument(
        "--clients",
        nargs="*",
        metavar="NAME",
        help="only: client libraries, frameworks and tools, against Mayfly and redis-server; all, or those with such a name",
    )
    parser.add_argument("--image", action="store_true", help="only: the Dockerfile, built and run (as root), and conf/compose.yaml")
    parser.add_argument("--metrics", action="store_true", help="only: the metrics port, with Prometheus and its tools")
    parser.add_argument("--page", action="store_true", help="only: the status page, in a headless Chromium")
    parser.add_argument("--package", action="store_true", help="only: the Debian package, built, installed and used (as root)")
    parser.add_argument("--sharding", action="store_true", help="only: daemons behind nutcracker and haproxy, with conf/'s examples")
    arguments = parser.parse_args()
    started = time.monotonic()
    tally = Tally()
    try:
        if arguments.arm64:
            arm64.run(tally, ROOT, build, jobs_at_once())
        if arguments.image:
            image.run(tally, ROOT)
        if arguments.package:
            package.run(tally, ROOT)
        if arguments.clients is not None:
            real_clients(tally, arguments.clients)
        if arguments.metrics:
            with_daemon(tally, [], metrics.run)
        if arguments.page:
            with_daemon(tally, ["page"], page.run)
        if arguments.sharding:
            proxies(tally)
        others = arguments.arm64 or arguments.image or arguments.sharding or arguments.package or arguments.clients is not None
        if not (others or arguments.metrics or arguments.page):
            everything(tally, arguments.quick)
    except Exception:
        # An error of the suite itself is a failure in the last line, too.
        tally.step("the suite itself", 0, 1, 0.0, traceback.format_exc())
    minutes, seconds = divmod(round(time.monotonic() - started), 60)
    heading(f"{minutes} min {seconds} s")
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
