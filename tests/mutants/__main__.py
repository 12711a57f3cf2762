"""Finds what the tests would not notice: scripts/mutants FOLDER [file of src ...] [--sample 500] [--seconds 30] [--jobs 2]

Makes a copy of the source in FOLDER, gives the files (patterns below src are possible; by default all) every fault that inject.py knows, and
builds the tests once. Learns which test reaches which fault, and runs a sample of the faults, each with the tests that reach it, until one
fails. FOLDER/results.tsv has a line for each: number, verdict, tests, who noticed it; FOLDER/faults.tsv says what a number is.
A second call in the same FOLDER goes on with other numbers. A FOLDER/source that is there already, a clone with MUTANT(n) of
base/mutants.h put in by hand, is measured with these alone.

A fault may send signals to every process that it can reach: FOLDER's processes see no others, which needs root.
"""

import argparse
import glob
import os
import random
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "scripts", "suite"))

import inject
import measure

OPTIONS = ("-DCMAKE_BUILD_TYPE=Release", "-DMAYFLY_TESTS=ON", "-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG")
PARSER = ("g++", "-std=c++20", "-fsyntax-only", "-w", "-fmax-errors=0", '-DMAYFLY_VERSION="0"', "-DMAYFLY_REPLACEABLE_CYCLES=1")


def prepare(source):
    """Gives a source what the tests need to know numbers. A source that has it stays as it is."""
    main = os.path.join(source, "tests", "support", "test_main.cc")
    with open(main, encoding="utf-8") as file:
        if "base/mutants.h" in file.read():
            return
    shutil.copy(os.path.join(HERE, "mutants.h"), os.path.join(source, "src", "base"))
    with open(os.path.join(HERE, "listener.inc"), encoding="utf-8") as file:
        listener = file.read()
    with open(main, "a", encoding="utf-8") as file:
        file.write(listener)
    # What a fault leaves unused is no matter.
    lists = os.path.join(source, "CMakeLists.txt")
    with open(lists, encoding="utf-8") as file:
        text = file.read()
    with open(lists, "w", encoding="utf-8") as file:
        file.write(text.replace(":-Werror>", ":-w>"))


def inject_all(source, patterns, path):
    """Makes the faults of the copy, and `path`, which lists them."""
    flags = subprocess.run(["pkg-config", "--cflags", "lua5.1-c++", "liblzf"], stdout=subprocess.PIPE, text=True).stdout.split()
    parser = [*PARSER, "-I", os.path.join(source, "src"), *flags]
    found = {name for pattern in patterns for name in glob.glob(os.path.join(source, "src", pattern), recursive=True)}
    first = 1
    with open(path, "w", encoding="utf-8") as out:
        for name in sorted(found):
            made = inject.inject(name, parser, first) if name.endswith(".cc") else []
            for fault, text, line in made:
                out.write(f"{fault.number}\t{os.path.relpath(name, source)}\t{line}\t{fault.kind}\t{' '.join(text.split())}\n")
                first = fault.number + 1
            if first > measure.NUMBERS - 1000:
                sys.exit("mutants: too many faults; name fewer files")


def built(source):
    tools = os.path.join(ROOT, "build", "test-tools")
    if os.path.isdir(tools) and not os.path.exists(os.path.join(source, "build", "test-tools")):
        shutil.copytree(tools, os.path.join(source, "build", "test-tools"), symlinks=True)
    build = os.path.join(source, "build", "test-release")
    subprocess.run([os.path.join(source, "scripts", "build"), build, *OPTIONS], check=True)
    return build


def numbers_of(source, path):
    """The numbers of the list, or of a source that somebody else has changed."""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            return [int(line.split("\t")[0]) for line in file]
    said = subprocess.run(["grep", "-rhoE", r"MUTANT\([0-9]+\)", os.path.join(source, "src")], stdout=subprocess.PIPE, text=True).stdout
    return sorted({int(word[len("MUTANT(") : -1]) for word in said.split()})


def main():
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("file", nargs="*", default=["**/*.cc"])
    parser.add_argument("--sample", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()

    folder = os.path.realpath(asked.folder)
    source, faults, reach, results = (os.path.join(folder, name) for name in ("source", "faults.tsv", "reach.tsv", "results.tsv"))
    os.makedirs(folder, exist_ok=True)
    by_hand = os.path.isdir(source) and not os.path.exists(faults)
    if not os.path.isdir(source):
        subprocess.run(["git", "clone", "-q", ROOT, source], check=True)
    prepare(source)
    if not by_hand and not os.path.exists(faults):
        inject_all(source, asked.file, faults)
    build = built(source)
    runner = measure.Runner(source, build, os.path.join(folder, "work"))
    if not os.path.exists(reach):
        measure.reach(runner, reach, asked.jobs)
    reached = measure.Reach(reach)
    if reached.failed:
        sys.exit("mutants: without a fault these fail: " + ", ".join(reached.failed))
    numbers = numbers_of(source, faults)
    random.Random(1).shuffle(numbers)
    measure.measure(runner, reached, numbers[: asked.sample], results, asked.seconds, asked.jobs)
    with open(results, encoding="utf-8") as file:
        lines = [line.split("\t") for line in file]
    print(f"{sum(1 for line in lines if line[1] == 'noticed')} of {len(lines)} noticed; the others are in {results}")


main()
