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
from figures import BARE, OURS, Figures, Trouble, at_most, times_better, within
from progress import Progress
from servers import free_port


def _example():
    found = Figures()
    get = found.figure("GET hit, pipeline 64", "µs", times_better(6.5, "redis"), main=True)
    for value in (0.31, 0.29, 0.30):
        get.add(OURS, value)
    get.add("redis", 2.1)
    get.add(BARE, 0.13)
    key = found.figure("bytes a key", "B", at_most(28), main=True)
    key.add(OURS, 30)
    key.add("redis", Trouble("holds 17 of 20 keys"))
    return found


def _figures():
    get, key = _example().all()
    assert get.value(OURS) == 0.30 and get.value("valkey") is None
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
    assert lines[1].split() == ["mayfly", "redis", "bare", "server", "redis/mayfly", "target"], lines[1]
    assert lines[2].split()[-8:] == ["0.30", "2.10", "0.13", "7.00x", "redis", "/", "6.5:", "met"], lines[2]
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


def _readme():
    described = {"processor": "P", "processors": 2, "system": "S"}
    wheel = Figures()
    for design, ns in ((OURS, 22), ("binary heap", 80)):
        wheel.figure("set, 1,000,000 timers", "ns", main=True).add(design, ns)
        wheel.figure("refresh, 1,000,000 timers", "ns").add(design, ns)
    text = readme.figures_text([("CPU", _example().all()), ("Wheel", wheel.all())], described, {OURS: "0.1.0", "redis": "7.0.15"})
    rows = text.splitlines()
    assert rows[0] == "| | Mayfly | redis 7.0.15 | bare server | times |".replace("| |", "|  |"), rows[0]
    assert rows[2] == "| **CPU** |  |  |  |  |", rows[2]
    assert rows[3] == "| GET hit, pipeline 64 | 0.30 µs | 2.10 µs | 0.13 µs | 7.0 |", rows[3]
    assert "refresh" not in text and "| set, 1,000,000 timers | 22 ns | 80 ns |" in text
    page = f"before\n{readme.BEGIN}\nold\n{readme.END}\nafter\n"
    once = readme.insert(page, text)
    assert once.startswith("before\n") and once.endswith(f"{readme.END}\nafter\n") and "old" not in once
    assert readme.insert(once, text) == once
    try:
        readme.insert("no markers", text)
    except readme.NotWritable:
        pass
    else:
        raise AssertionError("figures went into a README without markers")
    with open(command_line.README, encoding="utf-8") as file:
        readme.insert(file.read(), text)


def _plot():
    wheel = Figures()
    wheel.figure("set", "ns", main=True).add(OURS, 20)
    wheel.figure("set", "ns").add("binary heap", 80)
    groups = plot.rows_of([("CPU", _example().all()), ("Wheel", wheel.all()), ("None", [])])
    assert [title for title, _ in groups] == ["CPU", "Wheel, beside a binary heap"]
    assert [label for label, _, _ in groups[0][1]] == ["GET hit, pipeline 64"], "a figure without a number is no bar"
    assert groups[1][1] == [("set", {"binary heap": 4.0}, "20 / 80 ns")], groups[1]


def _command_line():
    options = command_line.parse(["--sections", "cpu", "valkey=valkey-server --port {port}", "redis=other {port}"])
    assert [s.name for s in options.specs] == [OURS, "redis", "valkey"] and options.chosen == ["cpu"]
    assert options.specs[1].command == "other {port}"
    assert command_line.parse([]).chosen == list(sections.ORDER)
    assert command_line.parse(["--from", "x"]).chosen == []


def _sections():
    for name in sections.ORDER:
        module = sections.load(name)
        assert callable(module.run) and module.TITLE and module.ABOUT and len(module.SECONDS) == 2, name


def _misses():
    misses = sections.load("misses")
    for keys in (20_000, 100_000):
        _, pages, _, item = misses.Section.memcached_for_keys(keys)
        chunk = item + misses.MEMCACHED_HEADER
        assert chunk >= misses.MEMCACHED_ITEM and abs(pages * (misses.MIB // chunk) - keys) < keys / 50, (pages, item)


def _progress():
    stream = io.StringIO()
    shown = Progress(stream)
    shown.section("Title", 2)
    shown.step("first")
    assert stream.getvalue().startswith("Title: 0 %"), stream.getvalue()
    assert 20000 <= free_port() < 32000


def run():
    for check in (_figures, _table, _results, _readme, _plot, _command_line, _sections, _misses, _progress):
        check()
    return 0
