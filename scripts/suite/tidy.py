"""What clang-tidy finds in our files, and whether each source includes what it uses.

clang-tidy with its static analyzer reads the build's units. A unit joins several files and uses precompiled headers, so what
they have in common is parsed once. An include that is missing does not show in a unit: clang parses each source of src alone,
too.

Units and sources that the newest commits have changed are looked at, and with scripts/test --deep all.
"""

import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import time

import yaml

# Commits whose files are looked at.
RECENT = 10
RUNNER, COMPILER = "run-clang-tidy-19", "clang++-19"
# Where a tree has its joined units (mayfly_join in CMakeLists.txt). The analyzer looks into what they include for this name alone.
JOINED = "UnifiedSources"
# A unit's compile command without these parses every header.
_PRECOMPILED = re.compile(r" -Winvalid-pch\b| -fpch-instantiate-templates\b| -Xclang -include(?:-pch)? -Xclang \S+")
_INCLUDE = re.compile(r'^#include "([^"\n]+)"', re.M)
# What the runner says beside faults: the commands, and how many warnings were left out.
_COLOUR = re.compile("\033\\[[0-9;]*m")
_NOISE = re.compile(r"^(clang-tidy-19 .*|\d+ warnings? .*|Enabled checks:|    [a-z][\w.-]+|)\n", re.M)


def units_below(tree, folder):
    """The compile commands of a tree for the files of a folder, one for each."""
    with open(os.path.join(tree, "compile_commands.json"), encoding="utf-8") as file:
        units = [unit for unit in json.load(file) if unit["file"].startswith(folder + "/")]
    # Catch2's own main is not ours.
    return list({unit["file"]: unit for unit in units if not unit["file"].endswith("/test_main.cc")}.values())


def units_of(root, tree):
    """(the units of src, those of tests)"""
    joined = units_below(tree, os.path.join(tree, JOINED))
    of_src = [unit for unit in joined if os.path.basename(unit["file"]).startswith("mayfly_")]
    of_tests = [unit for unit in joined if unit not in of_src]
    return of_src + units_below(tree, os.path.join(root, "src")), of_tests + units_below(tree, os.path.join(root, "tests"))


def files_of(unit):
    """The files that a unit joins, or its own."""
    if f"{os.sep}{JOINED}{os.sep}" not in unit["file"]:
        return [unit["file"]]
    with open(unit["file"], encoding="utf-8") as file:
        return _INCLUDE.findall(file.read())


def recent(root):
    """A function that says whether a file, or the header of the same name, differs from what it was RECENT commits ago; it says yes
    of all if nobody knows."""
    command = ["git", "-C", root, "diff", "--name-only", f"HEAD~{RECENT}", "--", "src", "tests"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        return lambda path: True
    changed = {os.path.splitext(os.path.join(root, path))[0] for path in done.stdout.decode().splitlines()}
    return lambda path: os.path.splitext(path)[0] in changed


def tidy(tree, units, checks, jobs):
    """What clang-tidy finds in units; empty: nothing. `checks` are added to those of .clang-tidy."""
    files = [f"^{re.escape(unit['file'])}$" for unit in units]
    # Includes of sources are what a unit consists of.
    command = [RUNNER, "-p", tree, "-quiet", "-j", str(jobs), f"-checks={checks},-bugprone-suspicious-include", *files]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = _COLOUR.sub("", done.stdout.decode(errors="replace"))
    return (_NOISE.sub("", said).strip() or said) if done.returncode else ""


def parse_alone(path, unit):
    """What the compiler says of a file of a unit without precompiled headers and the unit's other files; empty: nothing."""
    words = shlex.split(_PRECOMPILED.sub("", unit["command"]))
    if "-o" in words:
        del words[words.index("-o") : words.index("-o") + 2]
    words = [word for word in words if word not in ("-c", unit["file"])]
    done = subprocess.run([*words, "-fsyntax-only", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.decode(errors="replace") if done.returncode else ""


PLANTED_HEADER = """#pragma once
#include <string>
#include <utility>
inline int wrongInHeader() { return 0; }
inline auto Size(const std::string text) { return text.size(); }
inline auto Twice(std::string a) {
  std::string b = std::move(a);
  return b + a;
}
"""
PLANTED_SOURCE = """#include "src/planted.h"
int wrongInSource() { return 0; }
int Read(const int* p) {
  if (p != nullptr) return 0;
  return *p;
}
int Spin(int n) {
  int i = 0;
  while (i < n) {
  }
  return i;
}
"""
RIGHT_SOURCE = "#include <string>\nint RightName(const std::string& value) { return static_cast<int>(value.size()); }\n"
PLANTED = (
    r"planted\.h:4:.*readability-identifier-naming",
    r"planted\.h:5:.*performance-unnecessary-value-param",
    r"planted\.h:8:.*bugprone-use-after-move",
    r"planted\.cc:2:.*readability-identifier-naming",
    r"planted\.cc:5:.*core\.NullDereference",
    r"planted\.cc:9:.*bugprone-infinite-loop",
)


def selftest(folder):
    """[what was planted and not found], in a unit of one file and in a source that lacks an include."""
    shutil.rmtree(folder, ignore_errors=True)
    for made in ("src", JOINED):
        os.makedirs(os.path.join(folder, made))

    def unit(name, text):
        path, joined = os.path.join(folder, "src", name), os.path.join(folder, JOINED, name)
        for written, lines in ((path, text), (joined, f'#include "{path}"\n')):
            with open(written, "w", encoding="utf-8") as file:
                file.write(lines)
        return {"directory": folder, "file": joined, "command": f"{COMPILER} -std=c++20 -I{folder} -c {joined}"}

    unit("planted.h", PLANTED_HEADER)
    planted, right, lacking = unit("planted.cc", PLANTED_SOURCE), unit("right.cc", RIGHT_SOURCE), unit("lacking.cc", "std::string text;\n")
    with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump([planted, right], file)
    said = tidy(folder, [planted], "", 1)
    missed = [f"{pattern} in:\n{said}" for pattern in PLANTED if not re.search(pattern, said)]
    missed += [f"nothing in {RIGHT_SOURCE!r}: {said}" for said in [tidy(folder, [right], "", 1)] if said]
    if "std" not in parse_alone(os.path.join(folder, "src", "lacking.cc"), lacking):
        missed.append("a source that lacks an include")
    if said := parse_alone(os.path.join(folder, "src", "right.cc"), right):
        missed.append(f"nothing in a right source: {said}")
    return missed


def step(tally, name, looked_at, all_of_them, look):
    """`look()` returns what is wrong. Where nothing is looked at, nothing has passed."""
    started = time.monotonic()
    said = look() if looked_at else ""
    name = f"{name}, {len(looked_at)} of {len(all_of_them)}"
    tally.step(name, int(bool(looked_at) and not said), int(bool(said)), time.monotonic() - started, said)


def run(tally, root, build, jobs, whole):
    """Four checks: that planted faults are found, clang-tidy of src and of tests, and includes."""
    tree = os.path.join(root, build)
    started = time.monotonic()
    of_src, of_tests = units_of(root, tree)
    missed = selftest(os.path.join(tree, "tidy")) if of_src and of_tests else ["no unit in compile_commands.json"]
    tally.step("planted faults are found", int(not missed), int(bool(missed)), time.monotonic() - started, "\n".join(missed))

    wanted = (lambda path: True) if whole else recent(root)
    with open(os.path.join(root, "tests", ".clang-tidy"), encoding="utf-8") as file:
        checks_of_tests = "".join(yaml.safe_load(file)["Checks"].split())
    for name, units, checks in (("clang-tidy: units of src", of_src, ""), ("clang-tidy: units of tests", of_tests, checks_of_tests)):
        looked_at = [unit for unit in units if any(map(wanted, files_of(unit)))]
        step(tally, name, looked_at, units, lambda: tidy(tree, looked_at, checks, jobs))

    sources = [(path, unit) for unit in of_src for path in files_of(unit)]
    looked_at = [source for source in sources if wanted(source[0])]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        step(tally, "includes of sources", looked_at, sources, lambda: "".join(pool.map(lambda source: parse_alone(*source), looked_at)))
