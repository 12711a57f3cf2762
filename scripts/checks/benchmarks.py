"""README.md, the plots and the prose of docs/benchmarks.md say what the tables of docs/benchmarks.md say.

The tables are made by scripts/bench. Sentences that repeat a figure, count rows or name the better server are made from the tables here, and
must stand in the page word by word. The plots with numbers are compared by the texts that the plot's program leaves in them.
"""

import re

FRONT, PAGE, PLOT, STAMPEDE = "README.md", "docs/benchmarks.md", "tests/bench/bench.svg", "tests/bench/stampede.svg"
_ROW = re.compile(r"^\|(.+)\|$", re.M)
_TEXT = re.compile(r"<!-- (.*) -->")
# What the pages say until the table of io-threads is filled, and not after.
THREADS = re.compile(r"<!-- figures of threads: .*?<!-- end of figures of threads -->", re.S)
UNMEASURED = {
    FRONT: "[`io-threads`] of the others have no row",
    PAGE: "The `io-threads` of Redis 8 and Valkey were not measured",
}
PERCENTILES = ("p50", "p99", "p99.9", "p99.99")
LESS = "The clusters in which another server has less than Mayfly:"
# Row of that table -> the table that it counts.
COUNTED = {
    "memory for the same misses": "Memory for the same misses, in MiB:",
    "memory without a limit": "Memory without a limit, in MiB:",
    "dead keys held, of those alive": "Keys that are dead and still held",
    "misses": "Misses in % of the reads",
    "server CPU a command": "Server's processor time a command, in µs:",
    "p99.9 of waits": "p99.9 of the waits, in µs:",
}


def table(text, after):
    """(heads, rows) of the first table behind a text, without the cells' blanks."""
    begin = text.index("\n|", text.index(after)) + 1
    lines = text[begin : text.find("\n\n", begin)]
    heads, _, *rows = [[cell.strip() for cell in row.split("|")] for row in _ROW.findall(lines)]
    return heads, rows


def _number(cell):
    """A figure at the head of a cell; None where there is none."""
    found = re.match(r"[\d,.]*\d", cell)
    return float(found[0].replace(",", "")) if found else None


def _less(page, after):
    """{server: [numbers of the clusters in which it has less than Mayfly]}"""
    (_, _, *servers), rows = table(page, after)
    found = {}
    for at, server in enumerate(servers, 2):
        both = [(re.match(r"cluster(\d+)", row[0])[1], _number(row[1]), _number(row[at])) for row in rows]
        found[server] = [cluster for cluster, ours, other in both if None not in (ours, other) and other < ours]
    return found


def _shorter(page):
    """The cases of a steady rate in which another server waits less than Mayfly: [(case, server, percentile)]"""
    (_, _, *servers), rows = table(page, "<!-- figures of steady")
    for case, ours, *others in rows:
        for server, other in zip(servers, others):
            pairs = zip(PERCENTILES, ours.split(" / "), other.split(" / "))
            yield from ((case, server, percentile) for percentile, a, b in pairs if None not in (_number(a), _number(b)) and _number(b) < _number(a))


def _by_case(page):
    """{case: {server: its shorter percentiles}}"""
    found = {}
    for case, server, percentile in _shorter(page):
        found.setdefault(case, {}).setdefault(server, []).append(percentile)
    return found


def _steady(page):
    """The page's prose about a steady rate, from its table."""
    servers = _by_case(page)
    if not servers:
        return "Mayfly's waits are the shortest in all rows."
    said = []
    for case, found in servers.items():
        listed = [f"{server} at {' and '.join(percentiles)}" for server, percentiles in found.items()]
        said.append(f"In the row *{case}*, shorter waits than Mayfly's: {', '.join(listed)}.")
    return " ".join([*said, "Mayfly's are the shortest in all other rows."])


def _steady_in_front(page):
    """README.md's prose beside the plot, which shows the higher rate."""
    found = {case: servers for case, servers in _by_case(page).items() if case.endswith(" 80 %")}
    if list(found) != ["alone, 80 %"]:
        return "Mayfly's are the shortest" if not found else f"shorter waits than Mayfly's in {', '.join(found)}"
    listed = [f"{server}'s at {' and '.join(percentiles)}" for server, percentiles in found["alone, 80 %"].items()]
    return f"Mayfly's are the shortest beside the server's other work. Alone, shorter are {', '.join(listed)}"


def _seconds(page, row):
    """The figures of a row of the planned restart, rounded as prose rounds them."""
    _, rows = table(page, "### A planned restart")
    values = [_number(cell) for cell in next(cells for cells in rows if cells[0] == row)[1:]]
    return [f"{value:.2g}" if value < 1 else f"{value:.0f}" for value in values]


def sentences(page):
    """[(path, sentence)] that must stand there."""
    less, (_, clusters) = _less(page, COUNTED["server CPU a command"]), table(page, COUNTED["server CPU a command"])
    ours, redis, valkey = _seconds(page, "longest time without an answer")
    whole = _seconds(page, "99 % of the GETs have a value again after")[0]
    return [
        (FRONT, f"[{len(less['Redis'])} of {len(clusters)} kinds of traffic]"),
        (FRONT, f"no reader waits longer than {ours} s"),
        (FRONT, f"99 % of the values are back after {whole} s. From Redis no reader gets an answer for {redis} s, from Valkey for {valkey} s"),
        (FRONT, _steady_in_front(page)),
        (PAGE, _steady(page)),
    ]


def _wrong_counts(page):
    (_, *servers), rows = table(page, LESS)
    for label, *cells in rows:
        less = _less(page, COUNTED[label])
        for server, cell in zip(servers, cells):
            if cell != (", ".join(less[server]) or "none"):
                yield f"{PAGE}: {label}, {server}: {cell}, and by its own table {', '.join(less[server]) or 'none'}"


def _wrong_front(front, page):
    """Rows of README.md that are no rows of the page, by their figures."""
    known = {tuple(cell.strip() for cell in row.split("|"))[1:] for row in _ROW.findall(page)}
    for label, *cells in table(front, "<!-- figures: made by")[1]:
        if not {tuple(cells), tuple(cells[:-1])} & known:
            yield f"{FRONT}: {PAGE} has no row with the figures of: {label}"


def _wrong_plot(front, plot):
    """The texts of the plot of README.md's table: labels, multiples and values."""
    heads, rows = table(front, "<!-- figures: made by")
    texts = _TEXT.findall(plot)
    for label, ours, *others in rows:
        others = [cell for head, cell in zip(heads[2:], others) if head != "bare server"]
        number, _, unit = ours.partition(" ")
        ratios = [re.search(r"\(([\d.]+)×\)", cell) for cell in others]
        values = " / ".join([number, *(cell.split(" ")[0] if ratio else "-" for cell, ratio in zip(others, ratios))])
        wanted = [f"{ratio[1]}x" for ratio in ratios if ratio] + [label, f"{values} {unit}".strip()]
        at = texts.index(label) if label in texts else -1
        if texts[max(0, at - len(wanted) + 2) : at + 2] != wanted:
            yield f"{PLOT}: not what {FRONT} says about: {label}; scripts/bench --replot draws it"


def _wrong_stampede(page, plot):
    _, rows = table(page, "<!-- figures of stampede")
    wanted = [row[0] for row in rows] + [cell.split(" ")[0] for at in (1, 2, 3) for cell in [row[at] for row in rows]]
    texts = [text for text in _TEXT.findall(plot) if not text.startswith(("computed", "wait"))]
    if texts != wanted:
        yield f"{STAMPEDE}: has other figures than the table in {PAGE}"


def _plain(text):
    """In one line, links without their targets."""
    return " ".join(re.sub(r"\]\([^)]*\)", "]", text).split())


def _wrong_threads(files):
    """Sentences that deny a table which is there, and those that are missing while there is none."""
    found = THREADS.search(files[PAGE])
    measured = found is not None and _ROW.search(found[0]) is not None
    for path, sentence in UNMEASURED.items():
        if (sentence in _plain(files[path])) == measured:
            yield f"{path}: io-threads are {'measured, it must not' if measured else 'not measured, it should'} say: {sentence}"


def find(files):
    missing = [f"{path}: missing" for path in (FRONT, PAGE, PLOT, STAMPEDE) if path not in files]
    if missing:
        return missing
    front, page = files[FRONT], files[PAGE]
    wrong = [*_wrong_front(front, page), *_wrong_plot(front, files[PLOT]), *_wrong_stampede(page, files[STAMPEDE]), *_wrong_counts(page), *_wrong_threads(files)]
    for path, sentence in sentences(page):
        if sentence not in _plain(files[path]):
            wrong.append(f"{path}: by the tables it should say: {sentence}")
    return wrong


def _example():
    heads = "| | Mayfly | Redis | Valkey |\n|---|---:|---:|---:|\n"
    counted = "".join(f"{after}\n\n{heads}| cluster4, small | 2.00 | {redis} | 3 |\n| cluster10, large | 1,000 | 1,500 | - |\n\n" for after, redis in zip(COUNTED.values(), (3, 3, 3, 3, 1, 3)))
    rows = "".join(f"| {label} | {'4' if label == 'server CPU a command' else 'none'} | none |\n" for label in COUNTED)
    page = (
        f"### CPU\n\n{heads}| GET | 0.30 µs | 1.54 µs (5.2×) | 1.36 µs (4.6×) |\n\n{LESS}\n\n| | Redis | Valkey |\n|---|---|---|\n{rows}\n{counted}"
        f"<!-- figures of stampede -->\n\n| | a second | wait, p50 | wait, p99 |\n|---|---:|---:|---:|\n| TAKE | 0.92 | 0.11 ms | 94 ms |\n\n"
        f"<!-- figures of steady -->\n\n{heads}| alone, 80 % | 41.2 / 2,481 / 5,651 / 7 | 43 / 1,132 / 5,371 / 8 | 96 / 2,312 / 6,636 / 9 |\n\n"
        f"### A planned restart\n\n{heads}| longest time without an answer | 0.35 s | 70.8 s (202.1×) | 74.8 s |\n| 99 % of the GETs have a value again after | 38.4 s | 71 s | 75 s |\n\n"
        "In the row *alone, 80 %*, shorter waits than Mayfly's: Redis at p99\nand p99.9, Valkey at p99. Mayfly's are the shortest in all other rows.\n"
        "<!-- figures of threads: made by -->\n<!-- end of figures of threads -->\nThe `io-threads` of Redis 8 and\nValkey were not measured.\n"
    )
    front = (
        f"<!-- figures: made by -->\n\n|  | Mayfly | Redis 7 | Valkey 8 | bare server |\n|---|---|---|---|---|\n| CPU | 0.30 µs | 1.54 µs (5.2×) | 1.36 µs (4.6×) |  |\n\n"
        "[1 of 2 kinds of traffic](x.md). Here no reader waits longer than 0.35 s; 99 % of\nthe values are back after 38 s. From Redis no reader gets an answer for 71 s, from Valkey for 75 s.\n"
        "Mayfly's are the shortest beside the server's other work. Alone, shorter are Redis's at p99 and p99.9, Valkey's at p99:\n"
        "[`io-threads`](x.md) of the others have no row.\n"
    )
    plot = "".join(f"<!-- {text} -->\n" for text in ("1x", "5.2x", "4.6x", "CPU", "0.30 / 1.54 / 1.36 µs", "redis"))
    stampede = "".join(f"<!-- {text} -->\n" for text in ("TAKE", "0.92", "computed a second", "0.11", "wait, p50 (ms)", "94", "wait, p99 (ms)"))
    return {FRONT: front, PAGE: page, PLOT: plot, STAMPEDE: stampede}


def selftest():
    good = _example()
    assert find(good) == [], find(good)

    def bad(path, old, new, *complaints):
        assert old in good[path], old
        said = find(good | {path: good[path].replace(old, new, 1)})
        assert len(said) == len(complaints) and all(words in line for words, line in zip(complaints, said)), said

    bad(FRONT, "0.30", "0.29", "no row with the figures of: CPU", "not what README.md says about: CPU")
    bad(FRONT, "1 of 2", "2 of 2", "should say: [1 of 2")
    bad(FRONT, "38 s", "37 s", "should say: 99 %")
    bad(PLOT, "5.2x", "6.1x", "not what README.md says about: CPU; scripts/bench --replot")
    bad(PLOT, "<!-- CPU", "<!-- GPU", "not what README.md says about: CPU")
    bad(STAMPEDE, "94", "95", "stampede.svg: has other figures")
    bad(PAGE, "| none | none |", "| 10 | none |", "memory for the same misses, Redis: 10, and by its own table none")
    bad(PAGE, "41.2 / 2,481", "41.2 / 1,000", "should say: Mayfly's are the shortest beside the server's other work. Alone, shorter are Redis's at p99.9", "should say: In the row *alone, 80 %*, shorter waits than Mayfly's: Redis at p99.9. Mayfly's")
    bad(PAGE, "| 0.35 s |", "| 0.41 s |", "waits longer than 0.41 s")
    bad(FRONT, "have no row", "have rows", "README.md: io-threads are not measured, it should say")
    bad(PAGE, "-->\n<!-- end of figures of threads", "-->\n| a | 1 |\n<!-- end of figures of threads", "README.md: io-threads are measured, it must not say", "benchmarks.md: io-threads are measured, it must not")
    assert find({}) and _steady("<!-- figures of steady\n\n|a|b|c|\n|-|-|-|\n| x | 1 / 2 | 1 / 2 |\n\n") == "Mayfly's waits are the shortest in all rows."
