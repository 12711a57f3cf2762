"""Every test and check of the project, those that fail soonest first. See scripts/test."""

import argparse
import os
import shutil
import subprocess
import sys
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import arm64
import clients
import crossed
import fuzz
import image
import kinds
import metrics
import page
import package
import pasted
import programs
import released
import sharding
import shown
import software
import sweep
import systems
import tidy
import versions
from tally import Tally, heading

# What scripts/run serves from, with link-time optimisation and training.
SHIPPED = "build"
SHIPPED_OPTIONS = ("-DCMAKE_BUILD_TYPE=Release",)
RELEASE = "build/test-release"
RELEASE_OPTIONS = ("-DCMAKE_BUILD_TYPE=Release", "-DMAYFLY_TESTS=ON", "-DMAYFLY_BENCH=ON", "-DCMAKE_CXX_COMPILER=g++")
SANITIZED = "build/test-asan"
SANITIZED_OPTIONS = ("-DCMAKE_BUILD_TYPE=Debug", "-DMAYFLY_SANITIZE=ON", "-DMAYFLY_TESTS=ON", "-DMAYFLY_FUZZ=ON", "-DMAYFLY_BENCH=ON")
SANITIZED_OPTIONS += ("-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_CXX_FLAGS_DEBUG=-gline-tables-only")
LIMIT_S = 900
SANITIZED_LIMIT_S = 2400


def script(name):
    return os.path.join(ROOT, "scripts", name)


def daemon():
    return os.path.join(ROOT, SHIPPED, "mayfly")


def build(tally, tree, *options):
    """Builds a tree. A failed build counts as one failure; scripts/build has shown its messages."""
    command = [script("build"), os.path.join(ROOT, tree), *options]
    if subprocess.run(command, stdin=subprocess.DEVNULL).returncode == 0:
        return True
    tally.step(f"build of {tree}", 0, 1, 0.0)
    return False


def checks(tally):
    programs.selftest()
    for module in (crossed, kinds, released, versions):
        module.selftest()
    clients.selftest()
    shown.selftest()
    sweep.selftest()
    listed = subprocess.run([script("check"), "--list"], stdout=subprocess.PIPE, check=True).stdout.decode().split()
    tally.run("the checks can fail", [script("check"), "--selftest"])
    for name in listed:
        tally.run(f"check: {name}", [script("check"), name])
    kept_lists(tally)
    tally.run("scripts/bench: its runner", [script("bench"), "--selftest"])
    tally.run("check: format", [script("format"), "--check"])


def kept_lists(tally):
    """The kept lists of other servers' commands are what those say, as far as their programs are here."""
    env = programs.environment(ROOT)
    servers = {"redis-8.0": "redis-server-8", "valkey-8.0": "valkey-server"}
    here = [f"{name}={program}" for name, program in servers.items() if shutil.which(program, path=env["PATH"])]
    tally.run("kept lists of commands", [script("compatibility"), "--check", *here], env=env)


def jobs_at_once():
    return int(os.environ.get("JOBS") or 0) or len(os.sched_getaffinity(0))


def build_daemon(tally):
    """Builds the daemon that ships."""
    return build(tally, SHIPPED, *SHIPPED_OPTIONS, "--", "mayfly")


def release(tally, parts, jobs, served=None):
    """Builds the tree with these parts' tests, and runs them. Integration tests start the daemon `served`, or the tree's own."""
    names = programs.of(ROOT, parts)
    if build(tally, RELEASE, *RELEASE_OPTIONS, "--", *names):
        programs.run_all(tally, ROOT, RELEASE, "release", LIMIT_S, jobs, names, served=served)


def usual(tally):
    """What every change must pass: rules, the daemon that ships, and the tests of all parts."""
    jobs = jobs_at_once()

    heading("Checks")
    checks(tally)

    heading("The daemon that ships")
    if build_daemon(tally):
        pasted.run(tally, daemon(), jobs)

    heading("Release, gcc")
    release(tally, programs.PARTS, jobs, daemon())
    if not tally.failed:
        software.record(ROOT, "tests")


def everything(tally, deep=False):
    """Also what tests do not show: the sanitizers, the fuzz targets' inputs, clang's tools, and the work that grows too fast."""
    usual(tally)
    jobs = jobs_at_once()

    heading("The daemon that ships, counted")
    sweep.run(tally, daemon(), jobs)

    heading("Debug, clang, address and undefined-behaviour sanitizers")
    counters = f"-DMAYFLY_COUNTERS={'ON' if deep else 'OFF'}"  # to fuzz; to replay, nobody needs them
    if build(tally, SANITIZED, *SANITIZED_OPTIONS, counters):
        programs.run_all(tally, ROOT, SANITIZED, "sanitized", SANITIZED_LIMIT_S, jobs, programs.of(ROOT, programs.PARTS))
        tally.run("training (sanitized)", [os.path.join(ROOT, SANITIZED, "tests", "training")], env=programs.environment(ROOT))
        heading("Fuzz targets and clang-tidy")
        fuzz.run_all(tally, ROOT, SANITIZED, programs.environment(ROOT), jobs, fuzz.SECONDS if deep else 0)
        tidy.run(tally, ROOT, SANITIZED, jobs, deep)


def benchmarks(tally):
    """The benchmarks are built but not run, so that they still compile when somebody needs them."""
    tally.step("benchmarks build", int(build(tally, RELEASE, *RELEASE_OPTIONS)), 0, 0.0)


def one_part(tally, part):
    if part not in programs.PARTS:
        tally.step(f"{part}: there is no such part; there are {' '.join(programs.PARTS)}", 0, 1, 0.0)
    else:
        release(tally, [part], jobs_at_once())


def real_clients(tally, words):
    # A misspelt name fails before the build.
    clients.chosen(words)
    if build_daemon(tally):
        clients.run(tally, daemon(), jobs_at_once(), words)
        if not words:
            pasted.run(tally, daemon(), jobs_at_once())  # with the libraries


def with_daemon(tally, packages, check):
    """A check of its own, of the release's daemon, that needs more packages."""
    if packages and not tally.run(f"packages: {' '.join(packages)}", [script("install-packages"), *packages]):
        return
    if build_daemon(tally):
        check(tally, ROOT, daemon())


def proxies(tally):
    if build_daemon(tally):
        sharding.run(tally, daemon())


def new_system(tally, name, options):
    if tally.run("packages: systems", [script("install-packages"), "systems"]):
        systems.run(tally, ROOT, name, options)


# Suites that need more packages, in the order in which --deep runs them.
SUITES = {
    "clients": lambda tally, words: real_clients(tally, words),
    "sharding": lambda tally, _: proxies(tally),
    "metrics": lambda tally, _: with_daemon(tally, [], metrics.run),
    "page": lambda tally, _: with_daemon(tally, ["page"], page.run),
    "package": lambda tally, _: package.run(tally, ROOT),
    "image": lambda tally, _: image.run(tally, ROOT),
    "arm64": lambda tally, _: arm64.run(tally, ROOT, build, jobs_at_once()),
    "released": lambda tally, words: with_daemon(tally, [], lambda *given: released.run(*given, words)),
}


def run_suite(tally, name, words=()):
    """Runs a suite. If all of it has passed, the versions of what it ran are kept."""
    failed = tally.failed
    SUITES[name](tally, words)
    if tally.failed == failed and not words:
        software.record(ROOT, name)


def timed(title, act):
    """(title, seconds) of what `act` does."""
    started = time.monotonic()
    act()
    return title, time.monotonic() - started


def all_suites(tally):
    took = [timed("every test and check", lambda: everything(tally, deep=True)), timed("benchmarks", lambda: benchmarks(tally))]
    for name in SUITES:
        heading(f"--{name}")
        took.append(timed(f"--{name}", lambda name=name: run_suite(tally, name)))
    heading("What took how long")
    for title, seconds in took:
        heading(f"  {title:<44} {seconds / 60:5.1f} min")


def arguments_of():
    parser = argparse.ArgumentParser(prog="scripts/test", description=__doc__)
    parser.add_argument("part", nargs="*", help=f"only the tests of these, in the release tree: {' '.join(programs.PARTS)}")
    parser.add_argument("--all", action="store_true", help="also the sanitizers, the inputs of the fuzz targets, clang-tidy, and counted instructions")
    parser.add_argument("--deep", action="store_true", help="that, longer: new fuzz inputs, names in every source, the benchmarks, and every suite from --clients on")
    parser.add_argument(
        "--clients",
        nargs="*",
        metavar="NAME",
        help="only: client libraries, frameworks and tools, against Mayfly and redis-server; all, or those with such a name",
    )
    parser.add_argument("--sharding", action="store_true", help="only: servers behind nutcracker, haproxy and sentinels, with conf/'s examples")
    parser.add_argument("--metrics", action="store_true", help="only: the metrics port, with Prometheus and its tools")
    parser.add_argument("--page", action="store_true", help="only: the status page, in a headless Chromium")
    parser.add_argument("--package", action="store_true", help="only: the Debian package, built, installed and used (as root)")
    parser.add_argument("--image", action="store_true", help="only: the Dockerfile, built and run (as root), and conf/compose.yaml")
    parser.add_argument("--arm64", action="store_true", help="only: the lower floors' tests, built for arm64, under qemu")
    parser.add_argument(
        "--released",
        nargs="*",
        metavar="COMMIT",
        help="only: files, payloads, options, commands and replicas, from the last released version to the present daemon and back; or from these commits",
    )
    for name, (_, _, title) in systems.SYSTEMS.items():
        parser.add_argument(f"--{name}", action="store_true", help=f"only: scripts/run and scripts/test in a new {title} (as root); with --all, all of the latter")
    return parser.parse_args()


def run(tally, arguments):
    chosen = {name: getattr(arguments, name) for name in SUITES}
    chosen = {name: words or [] for name, words in chosen.items() if words not in (False, None)}
    if arguments.deep:
        all_suites(tally)
        return
    for part in arguments.part:
        one_part(tally, part)
    for name, words in chosen.items():
        run_suite(tally, name, words)
    new = [name for name in systems.SYSTEMS if getattr(arguments, name)]
    for name in new:
        new_system(tally, name, ["--all"] if arguments.all else [])
    if arguments.part or chosen or new:
        return
    if arguments.all:
        everything(tally)
    else:
        usual(tally)


def main():
    arguments = arguments_of()
    started = time.monotonic()
    tally = Tally()
    try:
        run(tally, arguments)
    except Exception:
        # An error of the suite itself is a failure in the last line, too.
        tally.step("the suite itself", 0, 1, 0.0, traceback.format_exc())
    minutes, seconds = divmod(round(time.monotonic() - started), 60)
    heading(f"{minutes} min {seconds} s")
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
