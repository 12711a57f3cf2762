"""The command line of scripts/bench: what to measure, beside whom, and where the figures go."""

import argparse
import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import machine
import sections
import table
from bench import Bench
from figures import OURS, Trouble, from_data, to_data
from progress import Progress
from servers import ServerFailed, Spec

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
TOOLS = os.path.join(ROOT, "build", "bench-tools")
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
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    parser.add_argument("--selftest", action="store_true", help="check the runner itself; measures nothing")
    options = parser.parse_args(arguments)
    options.chosen = options.sections.split(",") if options.sections else list(sections.ORDER)
    unknown = [n for n in options.chosen if n not in sections.ORDER]
    if unknown:
        parser.error(f"no section called {', '.join(unknown)}; there are {', '.join(sections.ORDER)}")
    bad = [s for s in options.servers if "=" not in s or "{port}" not in s]
    if bad:
        parser.error(f"not NAME='COMMAND with {{port}}': {bad[0]}")
    options.specs = [Spec(n, c) for n, c in (DEFAULTS | dict(s.split("=", 1) for s in options.servers)).items()]
    return options


def _measure(options, progress):
    folder = tempfile.mkdtemp(prefix="mayfly-bench.")
    try:
        bench = Bench(options.specs, PROGRAMS, folder, options.quick, progress)
        if bench.server_processor is None:
            progress.say("one processor only: servers and clients share it, and figures of waits and times mean little")
        results = {}
        for name in options.chosen:
            module = sections.load(name)
            results[name] = bench.run_section(module)
            progress.clear()
            print(table.section_text(module.TITLE, results[name]), flush=True)
        return results
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _to_json(options, results):
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit.stdout.strip(),
        "quick": options.quick,
        "machine": machine.describe(),
        "servers": {s.name: s.command for s in options.specs},
        "sections": {
            name: {"trouble": found.text} if isinstance(found, Trouble) else {"figures": [to_data(f) for f in found]}
            for name, found in results.items()
        },
    }


def main(arguments):
    options = parse(arguments)
    if options.selftest:
        import selftest

        return selftest.run()
    # Ending by a signal must end the servers, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.environ["PATH"] = os.pathsep.join([TOOLS, os.environ.get("PATH", "/usr/bin:/bin")])
    progress = Progress()
    try:
        results = _measure(options, progress)
    except KeyboardInterrupt:
        progress.say("stopped")
        return 130
    data = _to_json(options, results)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(data, file, indent=1)
    incomplete = any(isinstance(r, Trouble) or any(f.troubles for f in r) for r in results.values())
    if incomplete:
        progress.say("not everything was measured: see the notes in the tables")
    return 1 if incomplete else 0
