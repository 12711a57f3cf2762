"""Figures as text for the terminal."""

from figures import BARE, OURS, Trouble

NAME_WIDTH = 46
# With more other columns than these, the table would be too wide to show ratios.
RATIO_COLUMNS = 3


def number(value):
    """A number for a reader: three or four digits that count."""
    if value is None:
        return "-"
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    if size >= 100 or value == int(value):
        return f"{value:.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def columns_of(figures):
    """All columns: ours, then the others in order of appearance, the bare server last."""
    names = list(dict.fromkeys(c for f in figures for c in f.columns()))
    rest = [n for n in names if n not in (OURS, BARE)]
    return [n for n in (OURS,) if n in names] + rest + [n for n in (BARE,) if n in names]


def _cell(figure, column, notes):
    if column in figure.troubles:
        text = f"{column}: {figure.troubles[column].text}"
        if text not in notes:
            notes.append(text)
        return f"[{notes.index(text) + 1}]"
    return number(figure.value(column))


def verdict(figure, judged=True):
    if figure.target is None:
        return ""
    words = {True: "met", False: "MISSED", None: "not measured"}
    return f"{figure.target.text}: {words[figure.met()]}" if judged else f"({figure.target.text})"


def section_text(title, figures, judged=True):
    """A section's table. A Trouble instead of figures means that nothing was measured. The targets are for the sizes of a
    full run, so a smaller run does not judge them."""
    if isinstance(figures, Trouble):
        return f"{title}\n  NOT MEASURED: {figures.text}\n"
    columns = columns_of(figures)
    others = [c for c in columns if c not in (OURS, BARE)]
    if len(others) > RATIO_COLUMNS:
        others = []
    notes, rows = [], []
    for figure in figures:
        cells = [figure.name, figure.unit, *(_cell(figure, c, notes) for c in columns)]
        ratios = [figure.ratio(c) for c in others]
        cells += [f"{r:.2f}x" if r is not None else "" for r in ratios]
        rows.append([*cells, verdict(figure, judged)])
    heads = ["", "", *columns, *(f"{c}/{OURS}" for c in others), "target"]
    widths = [max(len(r[i]) for r in [heads, *rows]) for i in range(len(heads))]
    widths[0] = max(widths[0], NAME_WIDTH)

    def line(cells):
        first = f"  {cells[0]:<{widths[0]}}  {cells[1]:<{widths[1]}}"
        middle = "".join(f"  {c:>{w}}" for c, w in zip(cells[2:-1], widths[2:-1]))
        return f"{first}{middle}  {cells[-1]}".rstrip()

    lines = [title, line(heads), *map(line, rows)]
    lines += [f"  [{i}] {note}" for i, note in enumerate(notes, 1)]
    return "\n".join(lines) + "\n"
