"""Figures as Markdown, written between two markers of a page, so that no number is ever typed by hand.

README.md gets a short table; docs/benchmarks.md all main figures, and the tables that sections have of their own.
"""

import re

from figures import BARE, OURS
from table import columns_of, number

BEGIN = "<!-- figures: made by scripts/bench --readme -->"
END = "<!-- end of figures -->"


class NotWritable(Exception):
    """Figures that must not stand in a page, or a page without the markers."""


def _row(cells):
    return "| " + " | ".join(cells) + " |"


def _value(figure, column, peers):
    """The value with its unit; a peer's also with how many times Mayfly's value it is."""
    value = figure.value(column)
    if value is None:
        return ""
    text = f"{number(value)} {figure.unit}".strip()
    ratio = figure.ratio(column) if column in peers else None
    return text if ratio is None else f"{text} ({ratio:.1f}×)"


def _peers(versions):
    """The other servers: their columns are compared with Mayfly's."""
    return [column for column in versions if column != OURS]


def _table(rows, versions):
    """A table of [(name, figure)]."""
    heads = {c: f"{c.capitalize()} {v}" for c, v in versions.items()} | {OURS: "Mayfly"}
    columns = columns_of([figure for _, figure in rows])
    lines = [_row(["", *(heads.get(c, c) for c in columns)]), "|---" + "|---:" * len(columns) + "|"]
    return lines + [_row([name, *(_value(figure, c, _peers(versions)) for c in columns)]) for name, figure in rows]


def _machine(described):
    return f"Measured on {described['processor']}, {described['processors']} processors, {described['system']}."


def short_text(sections, described, versions):
    """README.md's table: the rows that have a name for it. `sections` are (title, figures)."""
    rows = [(f.front, f) for _, figures in sections for f in figures if f.front]
    return "\n".join([*_table(rows, versions), "", _machine(described)])


def rows_in(text):
    """What short_text made, read from README.md's text: (the other servers, [(label, {server: ratio}, values as text)], their versions), as
    plot.draw_rows takes it."""
    table = text[text.index(BEGIN) : text.index(END)]
    heads, _, *lines = [[c.strip() for c in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")]
    versions = {name.lower(): version for name, _, version in (head.partition(" ") for head in heads[2:] if head != BARE)}
    rows = []
    for label, ours, *others in lines:
        values, ratios, unit = [ours.split(" ")[0]], {}, ours.partition(" ")[2]
        for server, cell in zip(versions, others):
            found = re.fullmatch(r"(\S+).* \(([\d.]+)×\)", cell)
            if found:
                ratios[server] = float(found[2])
            values.append(found[1] if found else "-")
        rows.append((label, ratios, f"{' / '.join(values)} {unit}".strip()))
    return list(versions), [row for row in rows if row[1]], versions


def full_text(sections, described, versions, abouts=None):
    """All main figures: for each section a heading, what was measured (`abouts`, by title), and a table."""
    lines = []
    for title, figures in sections:
        rows = [(f.name, f) for f in figures if f.main]
        if rows:
            about = (abouts or {}).get(title, "")
            lines += [f"### {title}", "", *([about, ""] if about else []), *_table(rows, versions), ""]
    return "\n".join([*lines, _machine(described)])


def markers_of(front):
    """The markers of a section's own table in docs/benchmarks.md; `front` is the section's name for it."""
    return f"<!-- figures of {front}: made by scripts/bench --readme -->", f"<!-- end of figures of {front} -->"


def insert(text, figures, markers=(BEGIN, END)):
    """The page's text with the figures between its markers."""
    begin, end = text.find(markers[0]), text.find(markers[1])
    if begin < 0 or end < begin:
        raise NotWritable(f"the page has no lines {markers[0]} and {markers[1]}")
    return f"{text[: begin + len(markers[0])]}\n\n{figures}\n\n{text[end:]}"
