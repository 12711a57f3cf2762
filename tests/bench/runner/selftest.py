"""Checks of the runner on small examples: what it counts, shows and refuses. Measures nothing, and takes no time.

scripts/test runs it, so that nothing of the runner rots between two benchmarks.
"""

import io
import os
import tempfile

import command_line
import plot
import readme
import results
import sections
import table
from bench import Bench
from figures import BARE, OURS, Figures, Trouble, at_most, times_better, within
from progress import Progress
from servers import free_port


VERSIONS = {OURS: "0.1.0", "redis": "7.0.15", "valkey": "8.0.1"}


def _example():
    found = Figures()
    get = found.figure("GET hit, pipeline 64", "µs", times_better(6.5, "redis"), main=True, front="CPU time per GET hit")
    for value in (0.31, 0.29, 0.30):
        get.add(OURS, value)
    get.add("redis", 2.1)
    get.add("valkey", 1.8)
    get.add(BARE, 0.13)
    key = found.figure("bytes a key", "B", at_most(28), main=True)
    key.add(OURS, 30)
    key.add("redis", Trouble("holds 17 of 20 keys"))
    key.add("valkey", 90)
    return found


def _figures():
    get, key = _example().all()
    assert get.value(OURS) == 0.30 and get.value("memcached") is None
    assert get.met() is True and key.met() is False
    assert round(get.ratio("redis"), 3) == 7 and key.ratio("redis") is None
    get.target = within(1.15, BARE)
    assert get.met() is False
    get.add(BARE, Trouble("did not start"))
    assert get.met() is None and get.value(BARE) is None, "a column with a trouble has no number"
    get.target = times_better(7.5, "redis")
    assert get.met() is False
    assert Figures().all() == []
    none = Figures().figure("moves", "", at_most(0))
    none.add(OURS, 0)
    assert none.met() is True and none.ratio(OURS) is None
    none.add(OURS, Trouble("refused"))
    assert none.met() is None


def _table():
    shown = table.section_text("Title", _example().all())
    lines = shown.splitlines()
    heads = ["mayfly", "redis", "valkey", "bare", "server", "redis/mayfly", "valkey/mayfly", "target"]
    assert lines[1].split() == heads, lines[1]
    cells = ["0.30", "2.10", "1.80", "0.13", "7.00x", "6.00x", "redis", "/", "6.5:", "met"]
    assert lines[2].split()[-10:] == cells, lines[2]
    assert "[1]" in lines[3] and "<= 28: MISSED" in lines[3], lines[3]
    assert lines[4] == "  [1] redis: holds 17 of 20 keys"
    quick = table.section_text("Title", _example().all(), judged=False)
    assert "MISSED" not in quick and "(<= 28)" in quick
    assert "NOT MEASURED: valgrind is missing" in table.section_text("Title", Trouble("valgrind is missing"))
    cases = {None: "-", 0: "0", 0.13: "0.13", 12.34: "12.3", 123.4: "123", 9249: "9,249", 28.0: "28"}
    for value, text in cases.items():
        assert table.number(value) == text, (value, table.number(value))


def _results():
    now = {"date": "2026-01-02", "commit": "abc"}
    machine = {"processor": "P", "processors": 2, "system": "S", "kernel": "K"}
    before = results.Results(now, machine, False, {OURS: "0.1.0"}, {"cpu": _example().all(), "herd": Trouble("why")})
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "figures.json")
        results.write(before, path)
        after = results.read(path)
        assert after == before, after
        assert results.missing(after) == ["cpu", "herd"]
        for broken in ("", "{}", '{"measured": 1, "sections": 3}'):
            with open(path, "w", encoding="utf-8") as file:
                file.write(broken)
            try:
                results.read(path)
            except results.NotUsable:
                continue
            raise AssertionError(broken)


def _wheel():
    found = Figures()
    for design, ns in ((OURS, 22), ("binary heap", 80)):
        found.figure("set, 1,000,000 timers", "ns", main=True).add(design, ns)
        found.figure("refresh, 1,000,000 timers", "ns").add(design, ns)
    return found


def _readme():
    described = {"processor": "P", "processors": 2, "system": "S"}
    shown = [("CPU", _example().all()), ("Wheel", _wheel().all())]
    text = readme.full_text(shown, described, VERSIONS, {"CPU": "How it was measured."})
    rows = text.splitlines()
    assert rows[:4] == ["### CPU", "", "How it was measured.", ""], rows[:4]
    assert rows[4] == "|  | Mayfly | Redis 7.0.15 | Valkey 8.0.1 | bare server |", rows[4]
    assert rows[6] == "| GET hit, pipeline 64 | 0.30 µs | 2.10 µs (7.0×) | 1.80 µs (6.0×) | 0.13 µs |", rows[6]
    assert rows[7] == "| bytes a key | 30 B |  | 90 B (3.0×) |  |", rows[7]
    assert rows[8:10] == ["", "### Wheel"], rows[8:10]
    assert "refresh" not in text and "| set, 1,000,000 timers | 22 ns | 80 ns |" in text
    short = readme.short_text(shown, described, VERSIONS).splitlines()
    assert short[0] == rows[4] and short[2].startswith("| CPU time per GET hit | 0.30 µs |") and len(short) == 5, short
    servers, drawn, versions = readme.rows_in(f"{readme.BEGIN}\n{chr(10).join(short)}\n{readme.END}\n")
    whole, rows_drawn = plot.rows_of(shown)
    assert servers == whole and versions == {c: VERSIONS[c] for c in servers}, (servers, versions)
    assert drawn == [(label, {c: round(r, 1) for c, r in ratios.items()}, values) for label, ratios, values in rows_drawn], drawn
    page = f"before\n{readme.BEGIN}\nold\n{readme.END}\nafter\n"
    once = readme.insert(page, text)
    assert once.startswith("before\n") and once.endswith(f"{readme.END}\nafter\n") and "old" not in once
    assert readme.insert(once, text) == once
    try:
        readme.insert("no markers", text)
    except readme.NotWritable:
        pass
    else:
        raise AssertionError("figures went into a page without markers")
    for path in (command_line.README, command_line.FIGURES):
        with open(path, encoding="utf-8") as file:
            readme.insert(file.read(), text)


def _plot():
    servers, rows = plot.rows_of([("CPU", _example().all()), ("Wheel", _wheel().all()), ("None", [])])
    assert servers == ["redis", "valkey"], servers
    (label, ratios, values), = rows
    assert (label, values) == ("CPU time per GET hit", "0.30 / 2.10 / 1.80 µs"), (label, values)
    assert {c: round(r, 3) for c, r in ratios.items()} == {"redis": 7, "valkey": 6}, ratios
    try:
        plot.draw([("Wheel", _wheel().all())], VERSIONS, "/nowhere/plot.svg")
    except plot.NothingToShow:
        pass
    else:
        raise AssertionError("a plot without a bar")


def _table_of_events():
    events = sections.load("events")
    found = Figures()
    for name in events.OTHERS:
        rows = events._rows(found, name, 180)
        for column, ms, missing in ((OURS, 0.5, 0), ("redis", 180_000, 17)):
            for row in rows.values():
                row.add(column, missing if row is rows["missing"] else ms)
    rows = events.front_text(found.all()).splitlines()
    assert rows[0] == "One run, 180 s at most:" and rows[2] == "| beside | Mayfly | Redis |", rows
    assert len(rows) == 4 + len(events.OTHERS), rows
    cells = "| no other key | 0.50 ms / 0.50 ms / 0.50 ms | 180 s / 180 s / 180 s; 17 did not come |"
    assert rows[4] == cells, rows[4]
    with open(command_line.FIGURES, encoding="utf-8") as file:
        readme.insert(file.read(), "", readme.markers_of(events.FRONT))


def _table_of_shootout():
    shootout = sections.load("shootout")
    found = Figures()
    for depth in shootout.DEPTHS:
        for command in shootout.COMMANDS:
            for name, unit in shootout.PARTS.values():
                found.figure(f"{command}, pipeline {depth}: {name}", unit).add(OURS, 4)
    found.figure("SET, pipeline 1: time a request", "µs").add("redis", Trouble("refused"))
    rows = shootout.front_text(found.all()).splitlines()
    assert rows[0] == "Medians of 1 runs." and len(rows) == 1 + len(shootout.TABLES) * (5 + 2 * len(shootout.DEPTHS)), rows
    assert rows[6] == "| SET, pipeline 1 | 250 | - |", rows[6]
    with open(command_line.FIGURES, encoding="utf-8") as file:
        readme.insert(file.read(), "", readme.markers_of(shootout.FRONT))


def _table_of_mixes():
    mixes = sections.load("mixes")
    found = Figures()
    found.figure(f"{mixes.SAME}, {mixes.OF_ALL}", "times").add(OURS, 1)
    label = mixes.MIXES[0].label
    found.figure(f"{mixes.SAME}, {label}; mayfly lru", "MiB").add(OURS, 20)
    for part, value in (("a quarter", 30), ("a half", 12)):
        found.figure(f"{mixes.MISSES}, {label}, at {part} of the memory that redis needs without a limit", "%").add(OURS, value)
    found.figure(f"{mixes.CPU}, {label}", "µs").add("redis", Trouble("refused"))
    for column, value in ((OURS, 1000.4), ("redis", 999)):
        found.figure(f"{mixes.WAIT}, {label}", "µs").add(column, value)
    rows = mixes.front_text(found.all()).splitlines()
    assert rows[4] == "| memory for the same misses | 1 | - |", rows[4]
    assert rows[rows.index("| | Redis |") + 2 :][:6:5] == ["| memory for the same misses | none |", "| p99.9 of waits | 4 |"], rows
    cells = ("20 | -", "12 | -", "- | -", "1,000 | 999")
    assert [row for row in rows if label in row] == [f"| {label} | {values} |" for values in cells], rows
    with open(command_line.FIGURES, encoding="utf-8") as file:
        readme.insert(file.read(), "", readme.markers_of(mixes.FRONT))


def _table_of_threads():
    threads = sections.load("threads")
    found = Figures()
    for depth, connections in threads._cases():
        parts = {"wall_us": (10, 8, 10), "cpu_us": (6, 6, 12), "client_us": (5, 4, 6)}
        for part, values in parts.items():
            row = found.figure(threads._name(depth, connections, part), "µs")
            for column, value in zip((OURS, "redis 8, io-threads 1", "redis 8, io-threads 4"), values):
                row.add(column, value / (4 if column.endswith("4") and depth == 16 and part == "wall_us" else 1))
            row.add("valkey, io-threads 2", Trouble("refused"))
    rows = threads.front_text(found.all()).splitlines()
    assert rows[0] == "## I/O threads" and "Medians of 1 rounds of 2 s." in rows[4], rows
    first = rows.index("Without pipelining:") + 4
    assert rows[first].startswith("| Mayfly | 100 | 6 µs | 0.60 + 0.50 | 100 |"), rows[first]
    assert rows[first + 2].startswith("| Redis 8, `io-threads 4` | 100 | 12 µs | 1.20 + 0.60 | 100 |"), rows[first + 2]
    assert rows[first + 3] == "| Valkey, `io-threads 2` |" + " - |" * 6, rows[first + 3]
    assert "| Redis 8, `io-threads 4` | 0.80 to 3.20 | 2.00 to 2.00 |" in rows, rows
    assert not any("{" in row for row in rows), rows
    with open(command_line.FIGURES, encoding="utf-8") as file:
        readme.insert(file.read(), "", readme.markers_of(threads.FRONT))


def _own_tables():
    stampede = sections.load("stampede")
    found = Figures()
    for way, name in stampede.WAYS.items():
        found.figure(f"computed, {name}", "a second").add(OURS, 0.9)
        if way != "stale":
            found.figure(f"wait, {name}: p50", "ms").add(OURS, 0.1)
    rows = stampede.front_text(found.all()).splitlines()
    assert rows[0] == "| | computed a second | wait, p50 | wait, p99 |", rows[0]
    assert rows[2] == "| GET and SET | 0.90 | 0.10 ms | - ms |" and len(rows) == 7, rows
    with open(command_line.FIGURES, encoding="utf-8") as file:
        readme.insert(file.read(), "", readme.markers_of(stampede.FRONT))
    _table_of_events()
    _table_of_shootout()
    _table_of_mixes()
    _table_of_threads()
    try:
        stampede.draw([], "/nowhere/plot.svg")
    except plot.NothingToShow:
        pass
    else:
        raise AssertionError("a plot without a bar")


def _starts():
    starts = sections.load("starts")
    nothing = {"gets": 0, "hits": 0, "errors": 0}
    slices = [dict(nothing) for _ in range(1200)]
    slices[12] = {"gets": 5, "hits": 0, "errors": 5}  # refused while the file is loaded
    slices[13] = {"gets": 5, "hits": 1, "errors": 0}
    slices[110] = {"gets": 10, "hits": 9, "errors": 0}
    found = starts._seen({"slices": slices, "slice_ms": 10}, began_ms=100)
    assert found["first_ms"] == 40, found
    assert found[1] == 10 and found[2] == 100, found
    try:
        starts.draw([], "/nowhere/plot.svg")
    except plot.NothingToShow:
        pass
    else:
        raise AssertionError("a plot without a line")


def _restarts():
    restarts = sections.load("restarts")
    well = {"gets": 10, "hits": 10, "errors": 0, "refused": 0, "lost": 0}
    gone = {"gets": 0, "hits": 0, "errors": 0, "refused": 2, "lost": 0}
    cold = {**well, "hits": 3}
    slices = [well] * 10 + [{**gone, "lost": 7}] + [gone] * 19 + [cold] * 20 + [well] * 40
    found = restarts._seen({"slices": slices, "slice_ms": 50}, stopped_ms=500)
    assert (found["refused"], found["lost"], found["silent_s"], found["back_s"]) == (40, 7, 1, 2), found
    assert found[0] == 100 and found[4] == 0, found


def _command_line():
    options = command_line.parse(["--sections", "cpu", "keydb=keydb-server --port {port}", "redis=other {port}"])
    assert [s.name for s in options.specs] == [OURS, "redis", "valkey", "keydb"] and options.chosen == ["cpu"]
    assert options.specs[1].command == "other {port}"
    assert command_line.parse([]).chosen == list(sections.ORDER)
    assert command_line.parse(["--from", "x"]).chosen == []


def _missing_programs():
    path = os.environ.get("PATH", "")
    os.environ["PATH"] = "/nowhere"
    try:
        specs, left_out = command_line.without_missing(command_line.parse([]))
        assert [s.name for s in specs] == [OURS, "redis"] and left_out == ["valkey"], left_out
        given = command_line.parse(["valkey=/nowhere/valkey-server {port}"])
        specs, left_out = command_line.without_missing(given)
        assert [s.name for s in specs] == [OURS, "redis", "valkey"] and not left_out, "a server that was asked for"
    finally:
        os.environ["PATH"] = path


def _rounds():
    assert Bench.median_of(5) == ", median of 5 rounds" and Bench.median_of(1) == ""
    assert Bench.rotated(["a", "b", "c"], 1) == ["b", "c", "a"] and Bench.rotated([], 3) == []


def _sections():
    for name in sections.ORDER:
        module = sections.load(name)
        assert callable(module.run) and module.TITLE and module.ABOUT and len(module.SECONDS) == 2, name


def _misses():
    misses = sections.load("misses")
    assert misses.column_of("redis", misses.LRU) == "redis" and misses.column_of("redis", misses.LFU) == "redis lfu"
    for keys in (20_000, 100_000):
        _, pages, _, item = misses.Section.memcached_for_keys(keys)
        chunk = item + misses.MEMCACHED_HEADER
        assert chunk >= misses.MEMCACHED_ITEM and abs(pages * (misses.MIB // chunk) - keys) < keys / 50, (pages, item)


def _mixes():
    mixes = sections.load("mixes")
    curve = [mixes.Point(100, 0.5), mixes.Point(400, 0.1), mixes.Point(1600, 0.1)]
    assert mixes.memory_for(curve, 0.5) == 100 and mixes.memory_for(curve, 0.9) == 100
    assert round(mixes.memory_for(curve, 0.3)) == 200 and round(mixes.memory_for(curve, 0.1)) == 400
    assert mixes.memory_for(curve, 0.05) is None
    assert round(mixes.misses_at(curve, 200), 6) == 0.3 and mixes.misses_at(curve, 1) == 0.5 and mixes.misses_at(curve, 9e9) == 0.1
    assert round(mixes.geometric_mean([2, 8]), 6) == 4
    other = [[mixes.Point(1, m) for m in (0.9, 0.6, 0.4, 0.2)], [mixes.Point(1, m) for m in (0.9, 0.7, 0.3, 0.25)]]
    assert mixes.goals_of(other, mixes.LIMITS) == [0.6, 0.3, 0.2 * mixes.NEARLY]
    assert mixes.goals_of([[mixes.Point(1, m) for m in (0.21, 0.21, 0.2, 0.2)]], mixes.LIMITS) == []
    assert os.path.exists(mixes.TABLE) and len({m.number for m in mixes.MIXES}) == len(mixes.MIXES) >= 12


def _progress():
    stream = io.StringIO()
    shown = Progress(stream)
    shown.section("Title", 2)
    shown.step("first")
    assert stream.getvalue().startswith("Title: 0 %"), stream.getvalue()
    assert 20000 <= free_port() < 32000


def run():
    for check in (_figures, _table, _results, _readme, _plot, _own_tables, _starts, _restarts, _command_line, _missing_programs, _rounds, _sections, _misses, _mixes, _progress):
        check()
    return 0
