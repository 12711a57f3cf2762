"""The command line of scripts/bench: what to measure, beside whom, and where the figures go."""

import argparse
import datetime
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import machine
import plot
import readme
import results
import sections
import table
from bench import Bench
from figures import OURS, Trouble
from progress import Progress
from servers import ServerFailed, Spec
from wire import ErrorReply

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
TOOLS = os.path.join(ROOT, "build", "bench-tools")
README = os.path.join(ROOT, "README.md")
FIGURES = os.path.join(ROOT, "docs", "benchmarks.md")
PLOT = os.path.join(ROOT, "tests", "bench", "bench.svg")
PROGRAMS = os.path.join(ROOT, "build", "bench", "tests")
_AS_CACHE = ' --port {port} --bind 127.0.0.1 --maxclients 10100 --save "" --appendonly no'
DEFAULTS = {
    OURS: os.path.join(ROOT, "build", "mayfly") + " --port {port} --bind 127.0.0.1 --maxclients 10100",
    "redis": "redis-server" + _AS_CACHE,
    "valkey": "valkey-server" + _AS_CACHE,
}
# scripts/bench unpacks their programs if it can reach a mirror; without a program the others are measured.
OPTIONAL = ("valkey",)


def _duration(seconds):
    return f"{round(seconds)} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _sections_help():
    lines = ["sections:"]
    for name in sections.ORDER:
        module = sections.load(name)
        full, quick = module.SECONDS
        lines.append(f"  {name}: {module.TITLE} ({_duration(full)}; --quick {_duration(quick)})")
        lines += [f"      {line.strip()}" for line in module.ABOUT.splitlines()]
        if module.NEEDS:
            lines.append(f"      Needs {module.NEEDS}.")
    total = [sum(sections.load(n).SECONDS[i] for n in sections.ORDER) for i in (0, 1)]
    lines.append(f"\nAll together: about {_duration(total[0])}; with --quick {_duration(total[1])}.")
    return "\n".join(lines)


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="scripts/bench",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures Mayfly beside Redis, Valkey and any other server given, in one run on this machine.\n"
        "The servers run on one processor and the clients on another, unless a section says otherwise. All servers take turns\n"
        "within each round, and the medians of the rounds are shown. Machines are noisy: compare figures of one run only.",
        epilog=_sections_help(),
    )
    parser.add_argument(
        "servers",
        nargs="*",
        metavar="NAME=COMMAND",
        help="another server that speaks the Redis protocol, with {port} in its command; the names mayfly, redis "
        "and valkey replace the built-in commands",
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes and one round: a look, not a result")
    parser.add_argument("--rounds", type=int, default=0, metavar="N", help="rounds of the sections shootout and threads, instead of their own number")
    parser.add_argument("--sections", metavar="A,B", help="only these, in this order")
    parser.add_argument("--json", metavar="FILE", help="write all figures there, after each section")
    parser.add_argument(
        "--from",
        dest="earlier",
        metavar="FILE",
        help="start with the figures of an earlier --json; the sections measured now replace theirs. Without --sections "
        "nothing is measured, and only plots and pages are written",
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="write the plot there (svg or png); a full run of all sections writes tests/bench/bench.svg anyway",
    )
    parser.add_argument(
        "--plots",
        metavar="FOLDER",
        help="write there the plots that sections have of their own (stampede, starts, restarts); a full run of all writes them into tests/bench",
    )
    parser.add_argument(
        "--readme",
        action="store_true",
        help="write the main figures into docs/benchmarks.md and the most important ones into README.md; full runs only. A run of a few "
        "sections writes those tables of docs/benchmarks.md that belong to one of them alone",
    )
    parser.add_argument("--replot", action="store_true", help="draw tests/bench/bench.svg from README.md's table; measures nothing")
    parser.add_argument("--selftest", action="store_true", help="check the runner itself; measures nothing")
    options = parser.parse_args(arguments)
    everything = [] if options.earlier else list(sections.ORDER)
    options.chosen = options.sections.split(",") if options.sections else everything
    unknown = [n for n in options.chosen if n not in sections.ORDER]
    if unknown:
        parser.error(f"no section called {', '.join(unknown)}; there are {', '.join(sections.ORDER)}")
    bad = [s for s in options.servers if "=" not in s or "{port}" not in s]
    if bad:
        parser.error(f"not NAME='COMMAND with {{port}}': {bad[0]}")
    given = dict(s.split("=", 1) for s in options.servers)
    options.specs = [Spec(n, c) for n, c in (DEFAULTS | given).items()]
    options.optional = [n for n in OPTIONAL if n not in given]
    return options


def without_missing(options):
    """(the servers to measure, the names of those that are left out because their program is missing)"""
    left_out = [s.name for s in options.specs if s.name in options.optional and not shutil.which(s.command.split()[0])]
    return [s for s in options.specs if s.name not in left_out], left_out


def _versions(bench):
    """Column -> the version that the server reports."""
    found = {}
    for spec in bench.specs:
        try:
            with bench.start(spec) as server, server.wire() as wire:
                fields = wire.info("server")
                found[spec.name] = fields.get(f"{spec.name}_version", fields.get("redis_version", ""))
        except (ServerFailed, ErrorReply, OSError) as problem:
            bench.progress.say(f"{spec.name}: {problem}")
    return found


def _measure(options, found, progress):
    """Runs the chosen sections and prints each one's table as soon as it is there."""
    folder = tempfile.mkdtemp(prefix="mayfly-bench.")
    try:
        specs, left_out = without_missing(options)
        bench = Bench(specs, PROGRAMS, folder, options.quick, progress, options.rounds)
        for name in left_out:
            progress.say(f"{name} is not measured: its program is missing")
        if bench.server_processor is None:
            progress.say("one processor only: servers and clients share it, so waits and times mean little")
        if options.quick:
            progress.say("--quick: the targets are for larger sizes, so they are not judged")
        found.versions |= _versions(bench)
        for index, name in enumerate(options.chosen, 1):
            module = sections.load(name)
            progress.place = f"{index} of {len(options.chosen)}"
            found.sections[name] = bench.run_section(module)
            progress.clear()
            print(table.section_text(module.TITLE, found.sections[name], judged=not options.quick), flush=True)
            # After each section, so that stopping the run later loses nothing.
            if options.json:
                results.write(found, options.json)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _commit():
    """Of the sources; "" if they are no checkout or git is missing."""
    try:
        done = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip()


def _start(options):
    """The figures that a run begins with: none, or those of an earlier run."""
    now = {"date": datetime.date.today().isoformat(), "commit": _commit()}
    fresh = results.Results(now, machine.describe(), options.quick)
    if not options.earlier:
        return fresh
    earlier = results.read(options.earlier)
    if options.chosen and (earlier.machine, earlier.quick) != (fresh.machine, fresh.quick):
        raise results.NotUsable(f"{options.earlier} was measured on another machine, or in another way (--quick)")
    if options.chosen:
        earlier.measured = now
    return earlier


def _write(options, found, progress):
    complete = list(found.sections) and set(found.sections) == set(sections.ORDER) and not found.quick
    path = options.plot or (PLOT if complete else None)
    shown = [(sections.load(n).TITLE, found.sections[n]) for n in sections.ORDER if n in found.sections]
    shown = [(title, figures) for title, figures in shown if not isinstance(figures, Trouble)]
    if path and shown:
        _draw(progress, path, lambda: plot.draw(shown, found.versions, path))
    own = {n: sections.load(n) for n in found.sections if not isinstance(found.sections[n], Trouble)}
    for name, module in own.items():
        folder = options.plots or (os.path.dirname(PLOT) if complete else None)
        if folder and hasattr(module, "PLOT"):
            to = os.path.join(folder, module.PLOT)
            _draw(progress, to, lambda to=to, name=name, module=module: module.draw(found.sections[name], to))
    if options.readme:
        fronts = [name for name, module in own.items() if hasattr(module, "FRONT")]
        if found.quick or not (complete or fronts):
            raise readme.NotWritable("a README shows a full run of all sections only, or a section's own table")
        for name in fronts:
            _write_readme(FIGURES, own[name].front_text(found.sections[name]), readme.markers_of(own[name].FRONT))
        if not complete:
            return progress.say(f"wrote the own tables of {', '.join(fronts)}; the others are of a full run of all sections only")
        _write_readme(README, readme.short_text(shown, found.machine, found.versions))
        abouts = {module.TITLE: module.ABOUT for module in own.values()}
        _write_readme(FIGURES, readme.full_text(shown, found.machine, found.versions, abouts))


def _draw(progress, path, draw):
    try:
        draw()
        progress.say(f"wrote {os.path.relpath(path)}")
    except (plot.NoLibrary, plot.NothingToShow) as problem:
        progress.say(str(problem))


def _write_readme(path, figures, markers=(readme.BEGIN, readme.END)):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = readme.insert(text, figures, markers)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _replot():
    """The plot of README.md's rows, from its table alone."""
    with open(README, encoding="utf-8") as file:
        plot.draw_rows(*readme.rows_in(file.read()), PLOT)
    return 0


def main(arguments):
    options = parse(arguments)
    if options.selftest:
        import selftest

        return selftest.run()
    if options.replot:
        return _replot()
    # A signal that ends the runner must end the servers, too.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    os.environ["PATH"] = os.pathsep.join([TOOLS, os.environ.get("PATH", "/usr/bin:/bin")])
    progress = Progress()
    try:
        found = _start(options)
        if options.chosen:
            _measure(options, found, progress)
        _write(options, found, progress)
    except KeyboardInterrupt:
        progress.say("stopped")
        return 130
    except (readme.NotWritable, results.NotUsable) as problem:
        progress.say(str(problem))
        return 1
    missing = results.missing(found)
    if missing:
        progress.say(f"not everything was measured: see the notes in {', '.join(missing)}")
    return 1 if missing else 0
