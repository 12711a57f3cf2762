"""Which tests reach a number, and whether one of them fails when the fault of the number is on."""

import concurrent.futures
import itertools
import os
import re
import shutil
import signal
import subprocess
import threading
import time

import programs

NUMBERS = 1 << 15  # as in mutants.h
_FAILED = re.compile(r"^-{20,}\n((?:(?!  )(?!---).*\n)+)", re.M)  # a test's name, which may take two lines
_FIRST_CHUNK, _MOST_OF_A_CHUNK, _GROWTH = 6, 200, 4
_MOST_CHUNK_MS = 8000


class Runner:
    """Runs programs of a tree, each in a folder of its own below `work`."""

    def __init__(self, tree, build, work):
        self._programs, self._work = os.path.join(build, "tests"), work
        self._environment = programs.environment(tree)
        self._numbers = itertools.count()
        self.names = [name for name in programs.of(tree, programs.PARTS) if os.path.exists(os.path.join(self._programs, name))]

    def tests_of(self, name):
        return programs.tests_of(os.path.join(self._programs, name), self._environment)

    def run(self, name, tests, more, limit_s, stops=True):
        """(exit code or None after `limit_s`, what it said)"""
        folder = os.path.join(self._work, str(next(self._numbers)))
        os.makedirs(folder)
        command = [os.path.join(self._programs, name), ",".join(map(programs.pattern_of, tests)), *(["--abort"] if stops else [])]
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=self._environment | more,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=limit_s)
            return process.returncode, said.decode(errors="replace")
        except subprocess.TimeoutExpired:
            # A fault may have left children that hold the pipe.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None, ""
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def reach(runner, path, jobs):
    """Runs each test once and writes a line for each to `path`: program, name, "ok" or "FAILED", ms, numbers. (listener.inc)"""
    portions = []
    for name in runner.names:
        tests = runner.tests_of(name)
        portions += [(name, part) for part in programs.portions(tests, max(1, len(tests) // 120))]
    lock = threading.Lock()

    def one(at):
        name, tests = portions[at]
        hits, lines = f"{path}.{at}.hits", f"{path}.{at}"
        with open(hits, "wb") as file:
            file.write(bytes(NUMBERS))
        runner.run(name, tests, {"MUTANT_HITS": hits, "MUTANT_MAP": lines}, 1800, stops=False)
        with lock, open(path, "a", encoding="utf-8") as out:
            if os.path.exists(lines):
                with open(lines, encoding="utf-8", errors="replace") as file:
                    out.writelines(f"{name}\t{line}" for line in file)
                os.remove(lines)
        os.remove(hits)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, range(len(portions))))


class Reach:
    """What `reach` has written."""

    def __init__(self, path):
        self.failed, self._tests, self._weight = [], {}, {}
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                name, test, verdict, ms, numbers = line.rstrip("\n").split("\t")
                if verdict != "ok":
                    self.failed.append(test)
                    continue
                numbers = [int(number) for number in numbers.split(",") if number]
                self._weight[name, test] = (int(ms), len(numbers))
                for number in numbers:
                    self._tests.setdefault(number, []).append((name, test))

    def tests_of(self, number):
        """The quick ones that reach few numbers come first."""
        return sorted(self._tests.get(number, []), key=lambda test: self._weight[test][0] * 20 + self._weight[test][1])

    def ms(self, tests):
        return sum(self._weight[test][0] for test in tests)


def chunks(tests, reached):
    """The tests in a few portions: the first ones are small, because most faults are noticed there."""
    most = _FIRST_CHUNK
    while tests:
        count = 1
        while count < min(most, len(tests)) and reached.ms(tests[: count + 1]) < _MOST_CHUNK_MS:
            count += 1
        yield tests[:count]
        tests, most = tests[count:], min(most * _GROWTH, _MOST_OF_A_CHUNK)


def verdict_of(runner, reached, number, most_s):
    """(verdict, how many tests reach the number, which test noticed it). A program that hangs or crashes has noticed it."""
    tests = reached.tests_of(number)
    if not tests:
        return "not reached", 0, ""
    began, done = time.monotonic(), 0
    for chunk in chunks(tests, reached):
        for name in runner.names:
            mine = [test for test in chunk if test[0] == name]
            if not mine:
                continue
            code, said = runner.run(name, [test for _, test in mine], {"MUTANT": str(number)}, 30 + reached.ms(mine) * 6 / 1000)
            if code != 0:
                names = _FAILED.findall(said)
                return "noticed", len(tests), f"{name}: {' '.join(names[0].split()) if names else 'it hangs' if code is None else f'it ends with {code}'}"
        done += len(chunk)
        if time.monotonic() - began > most_s:
            break
    return "survived" if done == len(tests) else f"survived {done} of them", len(tests), ""


def measure(runner, reached, numbers, path, most_s, jobs):
    """Appends a line for each number to `path`; those that are there already are not measured again."""
    known = set()
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            known = {int(line.split("\t")[0]) for line in file}
    lock = threading.Lock()

    def one(number):
        found = verdict_of(runner, reached, number, most_s)
        with lock, open(path, "a", encoding="utf-8") as out:
            out.write("\t".join(map(str, (number, *found))) + "\n")

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, [number for number in numbers if number not in known]))
