"""The README's figures, written between two markers, so that no number is ever typed by hand."""

from figures import BARE, OURS
from table import columns_of, number

BEGIN = "<!-- figures: made by scripts/bench --readme -->"
END = "<!-- end of figures -->"
REFERENCE = "redis"


class NotWritable(Exception):
    """Figures that must not stand in a README, or a README without the markers."""


def _row(cells):
    return "| " + " | ".join(cells) + " |"


def _value(figure, column):
    value = figure.value(column)
    return "" if value is None else f"{number(value)} {figure.unit}".strip()


def _table(groups, heads, ratios_to):
    """A table of [(title, figures)], with a row for each title."""
    columns = columns_of([f for _, figures in groups for f in figures])
    rows = [_row(["", *(heads.get(c, c) for c in columns), *(["times"] if ratios_to else [])])]
    rows.append("|---" + "|---:" * (len(columns) + bool(ratios_to)) + "|")
    for title, figures in groups:
        rows.append(_row([f"**{title}**", *[""] * (len(columns) + bool(ratios_to))]))
        for figure in figures:
            cells = [figure.name, *(_value(figure, c) for c in columns)]
            if ratios_to:
                ratio = figure.ratio(ratios_to)
                cells.append(f"{ratio:.1f}" if ratio is not None else "")
            rows.append(_row(cells))
    return rows


def figures_text(sections, described, versions):
    """The text between the markers. `sections` are (title, figures); those with a value of redis share one table, with
    a column that says how many times Mayfly's value redis's is; the others (designs of wheels) get their own."""
    heads = {c: f"{c} {v}" for c, v in versions.items()} | {OURS: "Mayfly", BARE: "bare server"}
    beside_redis, alone = [], []
    for title, figures in sections:
        shown = [f for f in figures if f.main]
        if any(REFERENCE in f.columns() for f in shown):
            beside_redis.append((title, shown))
        elif shown:
            alone.append((title, shown))
    lines = _table(beside_redis, heads, REFERENCE) if beside_redis else []
    for group in alone:
        lines += ["", *_table([group], heads, None)]
    lines += ["", f"{described['processor']}, {described['processors']} processors, {described['system']}."]
    return "\n".join(lines)


def insert(text, figures):
    """The README's text with the figures between its markers."""
    begin, end = text.find(BEGIN), text.find(END)
    if begin < 0 or end < begin:
        raise NotWritable(f"the README has no lines {BEGIN} and {END}")
    return f"{text[: begin + len(BEGIN)]}\n\n{figures}\n\n{text[end:]}"
