"""What clang's tools find in our files: clang-tidy's checks, and the static analyzer.

clang-tidy 14 goes over all that a unit includes, the standard library and our headers in every unit anew; parsing and that take
most of its time. So each thing is looked at once, by what does it for least:

- the text of sources and tests, by clangd, which runs the same checks over it, but not over what it includes;
- all headers at once, by clang-tidy, in one unit that includes nothing else: one for src, one for tests;
- the functions of src, by the static analyzer, and by the check of moved-from objects: clangd has neither. Here clang-tidy reads the
  build's units, each of which joins several sources, and uses its precompiled headers. Tests are left out: they run under the
  sanitizers.

Of texts and units those are looked at that the newest commits have changed, and with scripts/test --deep all.

Sources are parsed without precompiled headers, so one that misses an include fails here. Where the first include of many sources
leads to the same big header, clangd parses that once for all of them, and they are shown behind it. Tests of one target begin with
the same headers, and clangd parses these once, too.

What was found clean has a stamp, a hash of all that the verdict depends on: the tools, .clang-tidy, the compile command, the text
and all of our headers that it includes. So the first run looks at everything, and later ones at what has changed.
"""

import collections
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import threading
import time

import yaml

import clangd

_PRECOMPILED = re.compile(r" -Winvalid-pch\b| -fpch-instantiate-templates\b| -Xclang -include(?:-pch)? -Xclang \S+")
_PREPARSED = re.compile(r" -Xclang -include -Xclang (\S+)")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.M)
# Texts that one clangd looks at in a row: it parses their common headers once for all of them.
ROW = 40
# Commits whose sources and tests are looked at.
RECENT = 10
# Sources that make it worth while to parse a header once for all of them.
SHARE = 8

# `key` names the look's stamp; `act` gives "" or what was found.
Look = collections.namedtuple("Look", "key act")


class Workshop:
    """The tools, the stamps, and what the looks of one run have in common."""

    def __init__(self, root, build):
        self.root, self.build = root, os.path.join(root, build)
        self.folder = os.path.join(root, build, "tidy")
        self.stamps = os.path.join(self.folder, "stamps")
        os.makedirs(self.stamps, exist_ok=True)
        self.clang_tidy = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
        self.clangd = shutil.which("clangd-14") or shutil.which("clangd")
        self._texts = {}
        self.base = b""
        for tool in (self.clang_tidy, self.clangd):
            self.base += subprocess.run([tool, "--version"], stdout=subprocess.PIPE, check=True).stdout
        for name in (".clang-tidy", "tests/.clang-tidy", "scripts/suite/tidy.py", "scripts/suite/clangd.py"):
            self.base += self.text(os.path.join(root, name)).encode()
        self.commands = []
        self._servers = threading.local()
        self._running = []

    def text(self, path):
        if path not in self._texts:
            with open(path, encoding="utf-8", errors="replace") as file:
                self._texts[path] = file.read()
        return self._texts[path]

    def write(self, path, text):
        self._texts[path] = text
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def checks(self, folder):
        """[check or pattern] of a folder's .clang-tidy."""
        listed = yaml.safe_load(self.text(os.path.join(self.root, folder, ".clang-tidy")))["Checks"]
        return [check.strip() for check in listed.split(",") if check.strip()]

    def _included(self, path):
        """The headers of ours that a file includes itself."""
        for name in _INCLUDE.findall(self.text(path)):
            for base in (os.path.join(self.root, "src"), os.path.join(self.root, "tests"), os.path.dirname(path)):
                header = os.path.normpath(os.path.join(base, name))
                if os.path.isfile(header):
                    yield header
                    break

    def _reach(self, path, seen):
        """Adds a file and every header of ours that it includes to `seen`."""
        if path in seen:
            return
        seen[path] = True
        for header in self._included(path):
            self._reach(header, seen)

    def reach(self, path):
        """{a file and every header of ours that it includes}"""
        seen = {}
        self._reach(path, seen)
        return set(seen)

    def begins_with(self, path):
        """{every header of ours that a source has after its first include}"""
        first = next(self._included(path), None)
        return self.reach(first) if first else set()

    def key(self, kind, command, paths):
        digest = hashlib.sha256(self.base + kind.encode() + b"\0" + command.encode())
        seen = {}
        for path in paths:
            self._reach(path, seen)
        for path in seen:
            digest.update(path.encode() + b"\0" + self.text(path).encode())
        return digest.hexdigest()

    def ask_clangd(self, path, text):
        """What clangd finds in a text that is taken for `path`, without the compiler's own warnings: the build has them, and clangd
        gives false ones, since it skips the bodies of functions in headers."""
        if not getattr(self._servers, "mine", None):
            self._servers.mine = clangd.Server(self.clangd, self.folder)
            self._running.append(self._servers.mine)
        try:
            faults = self._servers.mine.faults(path, text)
        except clangd.Ended as trouble:
            self._servers.mine = None
            return [(1, str(trouble), "clangd")]
        return [fault for fault in faults if not fault[2].startswith("-W")]

    def run_clang_tidy(self, *arguments):
        done = subprocess.run(
            [self.clang_tidy, "--quiet", *arguments],
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        if done.returncode == 0:
            return ""
        return done.stdout.decode(errors="replace").strip() or done.stderr.decode(errors="replace")

    def write_commands(self):
        """What clangd reads the commands from."""
        self.write(os.path.join(self.folder, "compile_commands.json"), json.dumps(self.commands))

    def command_for(self, path, command):
        self.commands.append({"directory": self.build, "file": path, "command": f"{command} -c {shlex.quote(path)}"})

    def end(self):
        for server in self._running:
            server.end()


def plain(unit):
    """A unit's compile command, without precompiled headers, the file and the object."""
    words = shlex.split(_PRECOMPILED.sub("", unit["command"]))
    if "-o" in words:
        del words[words.index("-o") : words.index("-o") + 2]
    return shlex.join(word for word in words if word not in ("-c", unit["file"]))


def reading_options(unit):
    """Those options of a unit's compile command that say what a text means."""
    words = shlex.split(plain(unit))
    joined = [words[at] + words[at + 1] if words[at] == "-isystem" else words[at] for at in range(len(words) - 1)] + words[-1:]
    return [word for word in joined if word.startswith(("-I", "-D", "-isystem", "-std="))]


def found(path, faults, lines_before=0):
    return "\n".join(f"{path}:{line - lines_before}: {said} [{code}]" for line, said, code in faults)


def text_alone(shop, unit):
    """A source is parsed as a compiler does it that has no precompiled header."""
    path, command = unit["file"], plain(unit)
    shop.command_for(path, command)
    return Look(shop.key("text", command, [path]), lambda: found(path, shop.ask_clangd(path, shop.text(path))))


def behind_common_headers(shop, stand_in, headers, unit, key):
    """A text is shown to clangd under the name of a stand-in that begins with the common headers. The declaration ends the
    preamble, so that it is the same for all."""
    path, head = unit["file"], f'#include "{headers}"\nstatic_assert(true);\n'
    return Look(key, lambda: found(path, shop.ask_clangd(stand_in, head + shop.text(path)), head.count("\n")))


def rows_of_tests(shop, units):
    """[[look]]: rows of tests with the same folder, command and common headers; a unit without common headers is alone."""
    rows, groups = [], collections.defaultdict(list)
    for unit in units:
        preparsed = _PREPARSED.search(unit["command"])
        if preparsed:
            groups[os.path.dirname(unit["file"]), preparsed.group(1), plain(unit)].append(unit)
        else:
            rows.append([text_alone(shop, unit)])
    for (folder, headers, command), members in groups.items():
        stand_in = os.path.join(folder, os.path.basename(os.path.dirname(headers)) + ".stand-in.cc")
        shop.command_for(stand_in, command)
        looks = []
        for unit in members:
            key = shop.key("test", command, [unit["file"], headers])
            looks.append(behind_common_headers(shop, stand_in, headers, unit, key))
        rows += [looks[at : at + ROW] for at in range(0, len(looks), ROW)]
    return rows


def sharing_a_header(shop, units):
    """{header: [unit]}: what can be shown behind that header, which each of the units has after its first include. Headers that
    are long and that many share come first; the key None has the others."""
    begins = {unit["file"]: shop.begins_with(unit["file"]) for unit in units}
    groups, left = {}, list(units)
    while left:
        sharers = collections.Counter(header for unit in left for header in begins[unit["file"]])
        header = max(sharers, key=lambda one: (sharers[one] * len(shop.reach(one)), one), default=None)
        if header is None or sharers[header] < SHARE:
            break
        groups[header] = [unit for unit in left if header in begins[unit["file"]]]
        left = [unit for unit in left if header not in begins[unit["file"]]]
    groups[None] = left
    return groups


def rows_of_sources(shop, units):
    """[[look]]: rows of sources with the same command that share a header; others are alone."""
    same, rows = collections.defaultdict(list), []
    for unit in units:
        same[plain(unit)].append(unit)
    for command, alike in same.items():
        for header, members in sharing_a_header(shop, alike).items():
            if header is None:
                rows += [[text_alone(shop, unit)] for unit in members]
                continue
            stand_in = os.path.join(shop.root, "src", f"{len(shop.commands)}.stand-in.cc")
            shop.command_for(stand_in, command)
            looks = []
            for unit in members:
                key = shop.key("source", f"{header} {command}", [unit["file"]])
                looks.append(behind_common_headers(shop, stand_in, header, unit, key))
            rows += [looks[at : at + ROW] for at in range(0, len(looks), ROW)]
    return rows


def all_headers(shop, folder, units):
    """One unit of all headers of src or tests."""
    top = os.path.join(shop.root, folder)
    headers = sorted(os.path.join(at, name) for at, _, names in os.walk(top) for name in names if name.endswith(".h"))
    source = os.path.join(shop.folder, f"headers_of_{folder}.cc")
    shop.write(source, "".join(f'#include "{header}"\n' for header in headers))
    words = list(dict.fromkeys(option for unit in units for option in reading_options(unit)))
    return Look(shop.key("headers", shlex.join(words), headers), lambda: headers_faults(shop, source, folder, words))


def headers_faults(shop, source, folder, words):
    # The list of tests/.clang-tidy begins with -*, and its options are those of src.
    config = "--config-file=" + os.path.join(shop.root, ".clang-tidy")
    checks = ["--checks=" + ",".join(shop.checks(folder))] if folder == "tests" else []
    return shop.run_clang_tidy(config, *checks, source, "--", *words)


def analysis(shop):
    """The checks that clangd lacks."""
    analyzer = [check for check in shop.checks("") if "clang-analyzer-" in check]
    return "--checks=" + ",".join(["-*", *analyzer, "bugprone-use-after-move"])


def analyzed(shop, unit):
    path = unit["file"]
    key = shop.key("analyzer", unit["command"], [path])
    return Look(key, lambda: shop.run_clang_tidy("-p", shop.build, analysis(shop), path))


def selftest(shop):
    """[what was planted and not found], of each kind of look."""
    source, test = os.path.join(shop.root, "src", "sample.cc"), os.path.join(shop.root, "tests", "sample.cc")
    header = os.path.join(shop.folder, "selftest", "src", "sample.h")
    written, including = os.path.join(shop.folder, "selftest", "sample.cc"), os.path.join(shop.folder, "selftest", "including.cc")
    common, parsed = os.path.join(shop.folder, "selftest", "common.hh"), os.path.join(shop.folder, "selftest", "common.pch")
    os.makedirs(os.path.dirname(header), exist_ok=True)
    shop.write(common, "#include <string>\n#include <utility>\n")
    shop.write(including, f'#include "{header}"\n')
    subprocess.run(["clang++-14", "-std=c++20", "-x", "c++-header", common, "-o", parsed], check=True)

    def in_source(text):
        return found(source, shop.ask_clangd(source, text))

    def in_test(text):
        return behind_common_headers(shop, test, common, {"file": shop.write(written, text)}, "").act()

    def in_header(folder):
        return lambda text: headers_faults(shop, including, folder, ["-std=c++20"]) if shop.write(header, "#pragma once\n" + text) else ""

    def in_analysis(text):
        shop.write(written, text)
        return shop.run_clang_tidy(analysis(shop), written, "--", "-std=c++20", "-include-pch", parsed)

    name = "\nint wrongName() { return 0; }\n"
    right = "\ninline int RightName(int value) { return value; }\n"
    string = "#include <string>\n#include <utility>\n"
    copy = string + "inline auto Size(const std::string text) { return text.size(); }\n"
    moved = string + "inline auto Twice(std::string a) {\n  std::string b = std::move(a);\n  return b + a;\n}\n"
    null = "int Read(const int* p) {\n  if (p != nullptr) return 0;\n  return *p;\n}\n"
    endless = "int Spin(int n) {\n  int i = 0;\n  while (i < n) {\n  }\n  return i;\n}\n"
    planted = (
        (in_source, name, ":2: .*identifier-naming"),
        (in_source, copy, "unnecessary-value-param"),
        (in_source, "std::string text;\n", "std"),
        (in_source, right, ""),
        (in_test, name, ":2: .*identifier-naming"),
        (in_test, endless, ":3: .*infinite-loop"),
        (in_test, right + "inline std::string text;\n", ""),
        (in_header("src"), "inline" + name, "identifier-naming"),
        (in_header("src"), copy, "unnecessary-value-param"),
        (in_header("src"), moved, "use-after-move"),
        (in_header("src"), right, ""),
        (in_header("tests"), "inline" + name, "identifier-naming"),
        (in_header("tests"), right, ""),
        (in_analysis, null, "NullDereference"),
        (in_analysis, moved, "use-after-move"),
        (in_analysis, right, ""),
    )
    missed = []
    for look, text, expected in planted:
        said = look(text)
        if not (re.search(expected, said) if expected else said == ""):
            missed.append(f"of {text!r}: {said!r}, not {expected or 'nothing'}")
    return missed


def look_at(shop, row):
    """What was found in a row, one text for each file with faults."""
    said = []
    for look in row:
        text = look.act()
        if text:
            said.append(text)
        else:
            open(os.path.join(shop.stamps, look.key), "w").close()
    return said


def step(tally, shop, name, rows, jobs):
    started = time.monotonic()
    todo = [[look for look in row if not os.path.exists(os.path.join(shop.stamps, look.key))] for row in rows]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        said = sum(pool.map(lambda row: look_at(shop, row), todo), [])
    counted = f"{sum(map(len, todo))} of {sum(map(len, rows))}"
    tally.step(f"{name}, {counted}", int(not said), int(bool(said)), time.monotonic() - started, "\n".join(said))


def files_of(unit):
    """The files that a unit joins, or its own."""
    if f"{os.sep}joined{os.sep}" not in unit["file"]:
        return [unit["file"]]
    with open(unit["file"], encoding="utf-8") as file:
        return _INCLUDE.findall(file.read())


def recent(root, units):
    """Those of the units of which a file, or the header of the same name, differs from what it was RECENT commits ago: all if
    nobody knows."""
    command = ["git", "-C", root, "diff", "--name-only", f"HEAD~{RECENT}", "--", "src", "tests"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        return units
    changed = {os.path.splitext(os.path.join(root, path))[0] for path in done.stdout.decode().splitlines()}
    return [unit for unit in units if any(os.path.splitext(path)[0] in changed for path in files_of(unit))]


def units_below(tree, folder):
    """The compile commands of a tree for the files of a folder, one for each."""
    with open(os.path.join(tree, "compile_commands.json"), encoding="utf-8") as file:
        units = [unit for unit in json.load(file) if unit["file"].startswith(folder + "/")]
    # Catch2's own main is not ours.
    return list({unit["file"]: unit for unit in units if not unit["file"].endswith("/test_main.cc")}.values())


def units_alone(shop, options):
    """The compile commands of the sources and of the tests: from a tree that is only configured, since the build joins several in
    one unit."""
    tree = os.path.join(shop.folder, "alone")
    command = ["cmake", "-S", shop.root, "-B", tree, *options, "-DMAYFLY_JOINED=OFF"]
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    return units_below(tree, os.path.join(shop.root, "src")), units_below(tree, os.path.join(shop.root, "tests"))


def units_of_sources(shop):
    """The compile commands of the build for what is in src."""
    joined = units_below(shop.build, os.path.join(shop.build, "joined"))
    joined = [unit for unit in joined if os.path.basename(unit["file"]).startswith("mayfly_")]
    return joined + units_below(shop.build, os.path.join(shop.root, "src"))


def run(tally, root, build, options, jobs, whole):
    """Three checks: that planted faults are found, and the two tools. `options` are those of the build."""
    shop = Workshop(root, build)
    sources, tests = units_alone(shop, options)
    for folder in ("src", "tests"):
        shop.command_for(os.path.join(root, folder, "sample.cc"), "clang++-14 -std=c++20")
    looked_at = (lambda units: units) if whole else (lambda units: recent(root, units))
    texts = rows_of_tests(shop, looked_at(tests)) + rows_of_sources(shop, looked_at(sources))
    others = [[all_headers(shop, "src", sources)], [all_headers(shop, "tests", tests)]]
    others += [[analyzed(shop, unit)] for unit in looked_at(units_of_sources(shop))]
    shop.write_commands()
    wanted = {look.key for row in [*texts, *others] for look in row}
    for old in set(os.listdir(shop.stamps)) - wanted:
        os.unlink(os.path.join(shop.stamps, old))
    try:
        started = time.monotonic()
        missed = selftest(shop) if sources and tests else ["no translation unit in compile_commands.json"]
        tally.step("planted faults are found", int(not missed), int(bool(missed)), time.monotonic() - started, "\n".join(missed))
        step(tally, shop, "clang-tidy: headers; the analyzer", others, jobs)
        step(tally, shop, "clangd: sources and tests", texts, jobs)
    finally:
        shop.end()
