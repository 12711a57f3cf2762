"""Figures as Markdown, written between two markers of a page, so that no number is ever typed by hand.

README.md gets a short table, and those of sections that have one for it; tests/bench/README.md all main figures.
"""

from figures import OURS
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


def _table(groups, versions):
    """A table of [(title, [(name, figure)])], with a row for each title that is not empty."""
    heads = {c: f"{c.capitalize()} {v}" for c, v in versions.items()} | {OURS: "Mayfly"}
    columns = columns_of([figure for _, rows in groups for _, figure in rows])
    lines = [_row(["", *(heads.get(c, c) for c in columns)]), "|---" + "|---:" * len(columns) + "|"]
    for title, rows in groups:
        if title:
            lines.append(_row([f"**{title}**", *[""] * len(columns)]))
        lines += [_row([name, *(_value(figure, c, _peers(versions)) for c in columns)]) for name, figure in rows]
    return lines


def _machine(described):
    return f"Measured on {described['processor']}, {described['processors']} processors, {described['system']}."


def short_text(sections, described, versions):
    """README.md's table: the rows that have a name for it. `sections` are (title, figures)."""
    rows = [(f.front, f) for _, figures in sections for f in figures if f.front]
    return "\n".join([*_table([("", rows)], versions), "", _machine(described)])


def full_text(sections, described, versions):
    """All main figures. Sections with a peer's column share one table; the others (designs of wheels) have their own."""
    shown = [(title, [(f.name, f) for f in figures if f.main]) for title, figures in sections]
    shown = [(title, rows) for title, rows in shown if rows]
    beside = [(t, rows) for t, rows in shown if any(p in f.columns() for _, f in rows for p in _peers(versions))]
    lines = _table(beside, versions) if beside else []
    for group in shown:
        if group not in beside:
            lines += ["", *_table([group], versions)]
    return "\n".join([*lines, "", _machine(described)])


def markers_of(front):
    """The markers of a section's own table in README.md; `front` is the section's name for it."""
    return f"<!-- figures of {front}: made by scripts/bench --readme -->", f"<!-- end of figures of {front} -->"


def insert(text, figures, markers=(BEGIN, END)):
    """The page's text with the figures between its markers."""
    begin, end = text.find(markers[0]), text.find(markers[1])
    if begin < 0 or end < begin:
        raise NotWritable(f"the page has no lines {markers[0]} and {markers[1]}")
    return f"{text[: begin + len(markers[0])]}\n\n{figures}\n\n{text[end:]}"
