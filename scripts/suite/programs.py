"""Runs Catch2 programs and reads their summaries.

A program that crashes, hangs, ends without a summary or runs nothing counts as failed, whatever it printed before.
"""

import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import time

import peers
from tally import excerpt

# The words for a program, by the first digit of Catch2's version: list the names of the tests; print without colours.
_WORDS = {
    "2": (["--list-test-names-only"], ["--use-colour", "no"]),
    "3": (["--list-tests", "--verbosity", "quiet"], ["--colour-mode", "none"]),
}
_VERSION = re.compile(r"^version:\s+v?(\d)", re.M)
_ALL_PASSED = re.compile(r"^All tests passed \(.* in (\d+) test cases?\)$", re.M)
_SUMMARY = re.compile(r"^test cases:\s*(\d+)(.*)$", re.M)
_PART = re.compile(r"\|\s*(\d+) (passed|failed)(?! as)")


def read_summary(output, code):
    """(passed, failed) of a Catch2 console report and exit code."""
    good = _ALL_PASSED.findall(output)
    if good and code == 0:
        passed = int(good[-1])
        return (passed, 0) if passed else (0, 1)
    found = _SUMMARY.findall(output)
    if not found:
        return 0, 1
    total, rest = int(found[-1][0]), found[-1][1]
    parts = {kind: int(count) for count, kind in _PART.findall(rest)}
    failed = parts.get("failed", 0)
    if code != 0:
        failed = max(failed, 1)
    passed = min(parts.get("passed", 0), max(total - failed, 0))
    if code == 0 and failed == 0 and passed == 0:
        failed = 1
    return passed, failed


# The parts of the project that have tests of their own: floors of src, and the whole daemon.
PARTS = ("base", "config", "resp", "cache", "server", "exec", "script", "snapshot", "replication", "net", "commands", "integration")
_OTHER_PROGRAMS = {"net": ["sim_tests"], "commands": ["command_tests", "crossing_tests"], "integration": ["integration_tests"]}


def of(root, parts):
    """The test programs of these parts, by the folders that there are."""
    found = [f"unit_{part}" for part in parts if os.path.isdir(os.path.join(root, "tests", "unit", part))]
    return found + [name for part in parts for name in _OTHER_PROGRAMS.get(part, [])]


def tools_of(root):
    """The folder of the servers that tests compare with."""
    return os.path.join(root, "build", "test-tools")


def environment(root):
    """The caller's environment, without what would change the daemon or Catch2, and with the servers that tests compare with on
    the PATH, before those of the machine."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAYFLY_", "ASAN_", "UBSAN_", "LSAN_"))}
    env["ASAN_OPTIONS"] = "detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1"
    env["UBSAN_OPTIONS"] = "print_stacktrace=1"
    tools = tools_of(root)
    os.makedirs(tools, exist_ok=True)
    peers.missing_after(tools)
    # The sanitizers look for llvm-symbolizer by that name.
    env["PATH"] = os.pathsep.join([tools, env.get("PATH", "/usr/bin:/bin"), "/usr/lib/llvm-19/bin"])
    return env


# Programs that run in several processes, each with an equal portion of the tests: a program has a limit of time, and the
# longest would run alone at the end.
_PORTIONS = {"command_tests": 8, "crossing_tests": 2, "integration_tests": 3, "sim_tests": 2, "unit_cache": 2}


# An emulator has neither the kernel's pages (an arm64 allocator has some of 64 KB) nor its silence about signals.
_NOT_EMULATED = "~[kernel]"


def words_for(program, env, emulator=()):
    """(to list names, to print without colours)"""
    said = subprocess.run([*emulator, program, "--libidentify"], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    version = _VERSION.search(said.stdout.decode(errors="replace"))
    return _WORDS[version[1] if version else "3"]


def tests_of(program, env, emulator=()):
    """The names of a program's tests."""
    chosen = [_NOT_EMULATED] if emulator else []
    names, _ = words_for(program, env, emulator)
    listed = subprocess.run([*emulator, program, *chosen, *names], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    # The exit code of version 2 is the number of tests.
    return [line for line in listed.stdout.decode().split("\n") if line]


def pattern_of(name):
    """What finds the test with this name alone."""
    return '"' + re.sub(r'([\\,"])', r"\\\1", name) + '"'


def portions(names, count):
    """`count` lists of nearly equal length: tests of one file, which take similar time, go to different ones."""
    return [part for part in (names[first::count] for first in range(count)) if part]


def run_one(tally, name, program, env, limit_s, emulator=(), portion=0, tests=None):
    """Runs one program in an empty folder of its own, under an emulator if one is given. `tests`: the names of those to run."""
    folder = f"{program}.work{portion or ''}"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    started = time.monotonic()
    if not os.access(program, os.X_OK):
        tally.step(name, 0, 1, 0.0, f"there is no program {program}")
        return
    chosen = [_NOT_EMULATED] if emulator else []
    if tests:
        chosen = ["--input-file", folder + ".names"]
        with open(chosen[1], "w") as file:
            file.writelines(pattern_of(test) + "\n" for test in tests)
    process = subprocess.Popen(
        [*emulator, program, *words_for(program, env, emulator)[1], *chosen],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    late = False
    try:
        output, _ = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        late = True
        os.killpg(process.pid, signal.SIGABRT)
        try:
            output, _ = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
    try:
        # Ends daemons that a crashed test left running.
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    text = output.decode(errors="replace")
    passed, failed = read_summary(text, process.returncode)
    if tests and not failed and passed != len(tests):
        failed, text = 1, text + f"\n{name}: {passed} tests ran, {len(tests)} were asked for\n"
    failed = max(failed, int(late))
    if late:
        text += f"\n{name}: no end after {limit_s} s\n"
    elif process.returncode < 0:
        text += f"\n{name}: killed by {signal.Signals(-process.returncode).name}\n"
    elif failed and not (_SUMMARY.search(text) or _ALL_PASSED.search(text)):
        text += f"\n{name}: ended with code {process.returncode} and no summary\n"
    crashed = late or process.returncode < 0 or not _SUMMARY.search(text)
    tally.step(name, passed, failed, time.monotonic() - started, excerpt(text) if crashed else text)
    if not failed:
        shutil.rmtree(folder, ignore_errors=True)


def run_all(tally, root, build, label, limit_s, jobs, names, emulator=(), served=None):
    """Test programs of a build tree. `served` is the daemon that integration tests start, instead of the tree's own."""
    folder = os.path.join(root, build, "tests")
    env = environment(root)
    if served:
        env["DAEMON_UNDER_TEST"] = served
    # The longest ones first, so that none of them runs alone at the end.
    names = sorted(names, key=lambda name: (name.startswith("unit_"), name))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = []
        for name in names:
            program, count = os.path.join(folder, name), _PORTIONS.get(name, 1)
            if count == 1 or not os.access(program, os.X_OK):
                waiting.append(pool.submit(run_one, tally, f"{name} ({label})", program, env, limit_s, emulator))
                continue
            for number, tests in enumerate(portions(tests_of(program, env, emulator), count), 1):
                title = f"{name} {number} of {count} ({label})"
                waiting.append(pool.submit(run_one, tally, title, program, env, limit_s, emulator, number, tests))
        for done in waiting:
            done.result()


def selftest():
    cases = [
        ("All tests passed (27 assertions in 4 test cases)\n", 0, (4, 0)),
        ("All tests passed (1 assertion in 1 test case)\n", 0, (1, 0)),
        ("test cases: 2 | 1 passed | 1 failed\nassertions: 3 | 2 passed | 1 failed\n", 1, (1, 1)),
        ("test cases: 3 | 3 failed\nassertions: - none -\n", 3, (0, 3)),
        ("test cases: 5 | 4 passed | 1 failed as expected\nassertions: 3\n", 0, (4, 0)),
        ("All tests passed (27 assertions in 4 test cases)\n", -11, (0, 1)),
        ("All tests passed (27 assertions in 4 test cases)\nLeakSanitizer: leak\n", 23, (0, 1)),
        ("No tests ran\n", 0, (0, 1)),
        ("", 0, (0, 1)),
        ("half a report", -6, (0, 1)),
        ("test cases: 1 | 1 failed\nassertions: 4 | 3 passed | 1 failed\n", -11, (0, 1)),
    ]
    assert portions(list("abcdefg"), 3) == [list("adg"), list("be"), list("cf")]
    assert pattern_of('a, "b"') == r'"a\, \"b\""'
    assert portions(["a"], 2) == [["a"]]
    for output, code, expected in cases:
        assert read_summary(output, code) == expected, (output, code, read_summary(output, code))
