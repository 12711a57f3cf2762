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
PLOT = os.path.join(ROOT, "tests", "bench", "bench.svg")
PROGRAMS = os.path.join(ROOT, "build", "bench", "tests")
DEFAULTS = {
    OURS: os.path.join(ROOT, "build", "mayfly") + " --port {port} --bind 127.0.0.1 --maxclients 10100",
    "redis": 'redis-server --port {port} --bind 127.0.0.1 --maxclients 10100 --save "" --appendonly no',
}


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
        description="Measures Mayfly beside redis-server, and any other server given, in one run on this machine.\n"
        "The servers run on one processor and the clients on another; all are interleaved within each round, and the\n"
        "medians of the rounds are shown. Machines are noisy: only ratios inside one run mean something.",
        epilog=_sections_help(),
    )
    parser.add_argument(
        "servers",
        nargs="*",
        metavar="NAME=COMMAND",
        help="another server that speaks the Redis protocol, with {port} in its command; the names mayfly and redis "
        "replace the built-in commands",
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes and one round: a look, not a result")
    parser.add_argument("--sections", metavar="A,B", help="only these, in this order")
    parser.add_argument("--json", metavar="FILE", help="write all figures there, after each section")
    parser.add_argument(
        "--from",
        dest="earlier",
        metavar="FILE",
        help="start with the figures of an earlier --json; the sections measured now replace theirs. Without --sections "
        "nothing is measured",
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="write the plot there (svg or png); a full run of all sections writes tests/bench/bench.svg anyway",
    )
    parser.add_argument("--readme", action="store_true", help="write the main figures into README.md; full runs only")
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
    options.specs = [Spec(n, c) for n, c in (DEFAULTS | dict(s.split("=", 1) for s in options.servers)).items()]
    return options


def _versions(bench):
    """Column -> the version that the server tells."""
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
        bench = Bench(options.specs, PROGRAMS, folder, options.quick, progress)
        if bench.server_processor is None:
            progress.say("one processor only: servers and clients share it, and figures of waits and times mean little")
        if options.quick:
            progress.say("--quick: sizes are smaller than those that the targets are for, so these are not judged")
        found.versions |= _versions(bench)
        for index, name in enumerate(options.chosen, 1):
            module = sections.load(name)
            progress.place = f"{index} of {len(options.chosen)}"
            found.sections[name] = bench.run_section(module)
            progress.clear()
            print(table.section_text(module.TITLE, found.sections[name], judged=not options.quick), flush=True)
            # Now, so that a run that is stopped later has not been for nothing.
            if options.json:
                results.write(found, options.json)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _commit():
    """Of the sources; "" where they are no checkout or git is missing."""
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
        try:
            plot.draw(shown, found.versions, path)
            progress.say(f"wrote {os.path.relpath(path)}")
        except plot.NoLibrary as problem:
            progress.say(str(problem))
    if options.readme:
        if not complete:
            raise readme.NotWritable("the README shows a full run of all sections only")
        with open(README, encoding="utf-8") as file:
            text = file.read()
        text = readme.insert(text, readme.figures_text(shown, found.machine, found.versions))
        with open(README, "w", encoding="utf-8") as file:
            file.write(text)


def main(arguments):
    options = parse(arguments)
    if options.selftest:
        import selftest

        return selftest.run()
    # Ending by a signal must end the servers, too.
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
