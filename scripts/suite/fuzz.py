"""Runs the fuzz targets: each on every input of the corpus that is kept for it, as a part of the suite, or for long on
new inputs (scripts/fuzz), and then what the run has found that is new is kept.

The corpus of a target is tests/fuzz/corpus/<target>/: inputs that together reach all the code that was ever reached, at most
CORPUS_BYTES in all. More seeds may lie in tests/fuzz/seeds/<target>/, or the target itself writes some if it
includes seed_files.h.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import time

CORPUS_BYTES = 1 << 20
SECONDS = 30  # on new inputs, in scripts/test --deep
# Of one input. Sanitizers make a target about ten times as slow.
INPUT_LIMIT_S = 20
MEMORY_LIMIT_MB = 4096


def targets(root):
    sources = os.path.join(root, "tests", "fuzz")
    return [name[: -len(".cc")] for name in sorted(os.listdir(sources)) if name.endswith(".cc")]


def corpus_of(root, target):
    return os.path.join(root, "tests", "fuzz", "corpus", target)


def sizes(folder):
    """[(bytes, path)], the smallest first."""
    paths = [os.path.join(folder, name) for name in os.listdir(folder)] if os.path.isdir(folder) else []
    return sorted((os.path.getsize(path), path) for path in paths)


def corpus_fault(root, target):
    """What is wrong with a target's corpus; empty: nothing."""
    kept = sizes(corpus_of(root, target))
    total = sum(size for size, _ in kept)
    if not kept:
        return f"tests/fuzz/corpus/{target} is empty: scripts/fuzz {target} fills it"
    if total > CORPUS_BYTES:
        return f"tests/fuzz/corpus/{target} has {total} bytes; at most {CORPUS_BYTES}"
    return ""


class Run:
    """One target, with a folder for what it finds. The folder stays if the target fails."""

    def __init__(self, root, build, target, env):
        self.root, self.target, self.env = root, target, env
        self.work = os.path.join(root, build, "fuzz", target)
        self.program = os.path.join(root, build, "tests", "fuzz_" + target)
        self.found = os.path.join(self.work, "found")
        shutil.rmtree(self.work, ignore_errors=True)
        os.makedirs(self.found)

    def seeds(self):
        """Folders with inputs to begin with."""
        folders = [corpus_of(self.root, self.target), os.path.join(self.root, "tests", "fuzz", "seeds", self.target)]
        with open(os.path.join(self.root, "tests", "fuzz", self.target + ".cc"), encoding="utf-8") as source:
            writes_seeds = '#include "seed_files.h"' in source.read()
        if writes_seeds:
            folders.append(os.path.join(self.work, "seeds"))
            os.makedirs(folders[-1])
            subprocess.run([self.program, "--seeds=" + folders[-1]], cwd=self.work, env=self.env, check=True)
            if not os.listdir(folders[-1]):
                raise RuntimeError(f"fuzz_{self.target} wrote no seeds")
        return [folder for folder in folders if os.path.isdir(folder)]

    def fuzz(self, seconds, seed):
        """(whether it found nothing wrong, its output)"""
        return self._run([self.program, self.found, *self.seeds(), f"-max_total_time={seconds}", f"-seed={seed}"])

    def replay(self):
        """Every input that is kept, and no other. Returns as fuzz."""
        seeds = self.seeds()
        ok, text = self._run([self.program, *seeds, "-runs=0"])
        tried = re.search(r"^stat::number_of_executed_units: *(\d+)", text, re.M)
        kept = sum(len(sizes(folder)) for folder in seeds)
        if ok and (not tried or int(tried[1]) < kept):
            return False, f"{text}\n{kept} inputs are kept, and not all were tried"
        return ok, text

    def _run(self, command):
        done = self._call([*command, f"-artifact_prefix={self.work}/", "-print_final_stats=1"])
        text = done.stdout.decode(errors="replace")
        return done.returncode == 0 and "Done " in text, text

    def keep(self):
        """Makes the corpus anew from what was kept and what was found: few inputs that reach the same code. The largest are
        left out if there are too many. Returns (inputs, bytes)."""
        merged = os.path.join(self.work, "merged")
        os.makedirs(merged)
        corpus = corpus_of(self.root, self.target)
        # Without counters: one input for each piece of code, not for each number of times that it runs.
        inputs = [folder for folder in (corpus, self.found, os.path.join(self.work, "seeds")) if os.path.isdir(folder)]
        done = self._call([self.program, "-merge=1", "-use_counters=0", f"-artifact_prefix={self.work}/", merged, *inputs])
        if done.returncode != 0:
            raise RuntimeError(done.stdout.decode(errors="replace"))
        shutil.rmtree(corpus, ignore_errors=True)
        os.makedirs(corpus)
        count, total = 0, 0
        for size, path in sizes(merged):
            if total + size > CORPUS_BYTES:
                break
            shutil.copy(path, corpus)
            count, total = count + 1, total + size
        return count, total

    def _call(self, command):
        command = command + [f"-timeout={INPUT_LIMIT_S}", f"-rss_limit_mb={MEMORY_LIMIT_MB}", "-verbosity=1"]
        return subprocess.run(
            command, cwd=self.work, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )


def run_one(tally, root, build, target, env, seconds):
    started = time.monotonic()
    fault = corpus_fault(root, target)
    if fault:
        tally.step("fuzz_" + target, 0, 1, 0.0, fault)
        return
    try:
        run = Run(root, build, target, env)
        ok, text = run.fuzz(seconds, seed=1) if seconds else run.replay()
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        ok, text = False, str(error)
    if ok:
        shutil.rmtree(run.work, ignore_errors=True)
    tally.step("fuzz_" + target, int(ok), int(not ok), time.monotonic() - started, text)


def run_all(tally, root, build, env, jobs, seconds):
    """Replays what is kept, or fuzzes each target for so long."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(run_one, tally, root, build, target, env, seconds) for target in targets(root)]:
            done.result()
