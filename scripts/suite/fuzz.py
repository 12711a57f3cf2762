"""A short, repeatable run of every fuzz target: a fixed seed and a fixed number of inputs.

Seeds come from tests/fuzz/seeds/<target>/, or from the target itself if it has the option `--seeds=DIR`.
"""

import concurrent.futures
import os
import shutil
import subprocess
import time

RUNS = 20000
# The number of inputs ends a run; the time limit is for slow machines only.
LIMIT_S = 60


def run_one(tally, root, build, name, env):
    started = time.monotonic()
    short = name[len("fuzz_") :]
    work = os.path.join(root, build, "fuzz", short)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(os.path.join(work, "found"))
    program = os.path.join(root, build, "tests", name)
    seeds = [os.path.join(root, "tests", "fuzz", "seeds", short)]
    with open(os.path.join(root, "tests", "fuzz", short + ".cc"), encoding="utf-8") as source:
        writes_seeds = "--seeds=" in source.read()
    if writes_seeds:
        seeds.append(os.path.join(work, "seeds"))
        os.makedirs(seeds[-1])
        made = subprocess.run([program, "--seeds=" + seeds[-1]], cwd=work, env=env, stdin=subprocess.DEVNULL)
        if made.returncode != 0 or not os.listdir(seeds[-1]):
            tally.step(name, 0, 1, time.monotonic() - started, f"{name} wrote no seeds")
            return
    command = [program, os.path.join(work, "found")]
    command += [folder for folder in seeds if os.path.isdir(folder)]
    command += [f"-runs={RUNS}", f"-max_total_time={LIMIT_S}", "-seed=1", "-timeout=20", "-rss_limit_mb=4096"]
    command += [f"-artifact_prefix={work}/", "-print_final_stats=0", "-verbosity=1"]
    done = subprocess.run(
        command, cwd=work, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    text = done.stdout.decode(errors="replace")
    ok = done.returncode == 0 and "Done " in text
    if ok:
        shutil.rmtree(work, ignore_errors=True)
    tally.step(name, int(ok), int(not ok), time.monotonic() - started, text)


def run_all(tally, root, build, env, jobs):
    folder = os.path.join(root, build, "tests")
    names = [n for n in sorted(os.listdir(folder)) if n.startswith("fuzz_") and os.path.isfile(os.path.join(folder, n))]
    sources = os.path.join(root, "tests", "fuzz")
    expected = len([n for n in os.listdir(sources) if n.endswith(".cc")]) if os.path.isdir(sources) else 0
    if len(names) < expected:
        tally.step("fuzz targets", 0, 1, 0.0, f"{expected} sources, {len(names)} programs")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(run_one, tally, root, build, n, env) for n in names]:
            done.result()
