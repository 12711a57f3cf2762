"""clang-tidy over every translation unit whose text has changed since it last passed.

A unit's stamp is a hash of the tool, .clang-tidy, the compile command, and the unit with all of our headers that it
includes. Only a unit that passed has one. So the first run checks everything, and later runs check what has changed.

The build has precompiled headers, and clang-tidy does without them: so a unit that misses an include fails here.
"""

import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

_PRECOMPILED = re.compile(r" -Winvalid-pch\b| -fpch-instantiate-templates\b| -Xclang -include(?:-pch)? -Xclang \S+")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.M)


class Stamps:
    def __init__(self, root, build):
        self.root = root
        self.folder = os.path.join(root, build, "tidy")
        os.makedirs(self.folder, exist_ok=True)
        self.tool = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
        version = subprocess.run([self.tool, "--version"], stdout=subprocess.PIPE, check=True).stdout
        self.base = version
        for config in (".clang-tidy", "tests/.clang-tidy"):
            with open(os.path.join(root, config), "rb") as file:
                self.base += file.read()
        self._texts = {}

    def _text(self, path):
        if path not in self._texts:
            with open(path, "rb") as file:
                self._texts[path] = file.read()
        return self._texts[path]

    def _reach(self, path, seen):
        """Adds the unit and every header of ours that it includes to `seen`."""
        if path in seen:
            return
        seen.append(path)
        for name in _INCLUDE.findall(self._text(path).decode(errors="replace")):
            for base in (os.path.join(self.root, "src"), os.path.join(self.root, "tests"), os.path.dirname(path)):
                header = os.path.normpath(os.path.join(base, name))
                if os.path.isfile(header):
                    self._reach(header, seen)
                    break

    def key(self, unit):
        digest = hashlib.sha256(self.base)
        digest.update(unit.get("command", "").encode())
        seen = []
        self._reach(unit["file"], seen)
        for path in seen:
            digest.update(path.encode() + b"\0" + self._text(path))
        return digest.hexdigest()


def check_one(stamps, commands, unit, key):
    """"" when the unit is clean, else what clang-tidy says."""
    done = subprocess.run(
        [stamps.tool, "-p", commands, "--quiet", unit["file"]],
        cwd=stamps.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    said = done.stdout.decode(errors="replace").strip()
    if done.returncode == 0:
        open(os.path.join(stamps.folder, key), "w").close()
        return ""
    return said or done.stderr.decode(errors="replace")


def selftest(stamps):
    """"" when clang-tidy finds a wrong name, a copied argument and a null pointer, else what it said instead."""
    sample = os.path.join(stamps.folder, "sample.cc")
    config = "--config-file=" + os.path.join(stamps.root, ".clang-tidy")
    samples = (
        "int wrongName() { return 0; }\n",
        "#include <string>\nunsigned long Size(const std::string text) { return text.size(); }\n",
        "int Read(const int* p) {\n  if (p != nullptr) return 0;\n  return *p;\n}\n",
    )
    for text in samples:
        with open(sample, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run(
            [stamps.tool, config, "--quiet", sample, "--", "-std=c++20"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if done.returncode == 0 or b"error:" not in done.stdout:
            return f"clang-tidy passes {text!r}: {done.stdout.decode(errors='replace')}"
    os.unlink(sample)
    return ""


def run(tally, root, build, jobs):
    """One check for all units together."""
    started = time.monotonic()
    with open(os.path.join(root, build, "compile_commands.json"), encoding="utf-8") as file:
        units = [u for u in json.load(file) if u["file"].startswith((root + "/src/", root + "/tests/"))]
    # Catch2's own main is not ours.
    units = list({u["file"]: u for u in units if not u["file"].endswith("/test_main.cc")}.values())
    for unit in units:
        unit["command"] = _PRECOMPILED.sub("", unit["command"])
    stamps = Stamps(root, build)
    commands = tempfile.mkdtemp(prefix="tidy.")
    with open(os.path.join(commands, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump(units, file)
    keys = {u["file"]: stamps.key(u) for u in units}
    for old in set(os.listdir(stamps.folder)) - set(keys.values()):
        os.unlink(os.path.join(stamps.folder, old))
    todo = [u for u in units if not os.path.exists(os.path.join(stamps.folder, keys[u["file"]]))]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        said = list(pool.map(lambda u: check_one(stamps, commands, u, keys[u["file"]]), todo))
    shutil.rmtree(commands)
    bad = [text for text in said if text]
    missing = selftest(stamps) if units else "no translation unit in compile_commands.json"
    name = f"clang-tidy, {len(todo)} of {len(units)} files"
    failed = bool(bad or missing)
    tally.step(name, int(not failed), int(failed), time.monotonic() - started, "\n".join(bad + [missing]))
