"""The plot of the main figures: how many times Mayfly's value another server's is, on a logarithmic scale.

One file serves dark and light pages: the background is transparent, the text of a middle grey.
"""

from figures import BARE, OURS
from table import columns_of, number

GREY = "#7d8590"
COLOURS = ("#3f83d6", "#d1862c", "#2f9e77", "#b565c0")
# What a figure is compared with, the first that it has.
REFERENCES = ("redis", "binary heap")
ROW_INCHES = 0.29


class NoLibrary(Exception):
    """matplotlib is missing."""


def rows_of(sections):
    """[(section's title, [(label, {column: ratio}, values as text)])] of the main figures that have a ratio."""
    groups = []
    for title, figures in sections:
        rows = []
        reference = next((r for r in REFERENCES if any(r in f.columns() for f in figures)), None)
        for figure in figures:
            ratio = figure.ratio(reference) if figure.main and reference else None
            if not ratio:
                continue
            ratios = {reference: ratio}
            if reference == REFERENCES[0]:
                others = [c for c in columns_of([figure]) if c not in (OURS, BARE, reference)]
                ratios |= {c: figure.ratio(c) for c in others if figure.ratio(c)}
            values = f"{number(figure.value(OURS))} / {number(figure.value(reference))} {figure.unit}".strip()
            rows.append((figure.name, ratios, values))
        if rows:
            beside = "" if reference == REFERENCES[0] else f", beside a {reference}"
            groups.append((title + beside, rows))
    return groups


def _bars(axes, y, ratios, colours):
    height = 0.66 / len(ratios)
    for i, (column, ratio) in enumerate(ratios.items()):
        at = y - 0.33 + (i + 0.5) * height
        axes.barh(at, ratio - 1, left=1, height=height * 0.92, color=colours[column], linewidth=0)
    best = max(max(ratios.values()), 1)
    axes.text(best * 1.04, y, f"{next(iter(ratios.values())):.1f}x", va="center", ha="left", color=GREY, fontsize=8.5)


def draw(sections, versions, path):
    """Writes the plot; its name's ending chooses the format."""
    try:
        import matplotlib
    except ImportError as problem:
        raise NoLibrary("no plot: matplotlib is missing") from problem
    matplotlib.use("Agg")
    # The same figures make the same file.
    matplotlib.rcParams.update({"svg.hashsalt": "mayfly", "font.family": "DejaVu Sans", "text.color": GREY})
    from matplotlib import pyplot

    groups = rows_of(sections)
    columns = list(dict.fromkeys(c for _, rows in groups for _, ratios, _ in rows for c in ratios))
    servers = [c for c in columns if c != REFERENCES[1]]
    colours = {c: COLOURS[i % len(COLOURS)] for i, c in enumerate(servers)} | {REFERENCES[1]: COLOURS[0]}
    lines = sum(len(rows) + 1.25 for _, rows in groups)
    figure, axes = pyplot.subplots(figsize=(9.2, lines * ROW_INCHES + 0.6))
    y, most = 0.0, 2.0
    for title, rows in groups:
        y += 0.35
        axes.text(-0.012, y, title, transform=axes.get_yaxis_transform(), ha="right", va="center", weight="bold", fontsize=9)
        y += 0.95
        for label, ratios, values in rows:
            _bars(axes, y, ratios, colours)
            axes.text(-0.012, y, label, transform=axes.get_yaxis_transform(), ha="right", va="center", fontsize=8.5)
            axes.text(1.015, y, values, transform=axes.get_yaxis_transform(), ha="left", va="center", fontsize=8)
            most = max(most, *ratios.values())
            y += 1
    _frame(axes, y, most)
    named = ", ".join(f"{c} {versions.get(c, '')}".strip() for c in servers) or "other designs"
    title = f"What {named} needs, as a multiple of what Mayfly needs"
    axes.text(0, -0.75, title, transform=axes.get_yaxis_transform(), ha="left", va="center", fontsize=10)
    if len(servers) > 1:
        handles = [pyplot.Rectangle((0, 0), 1, 1, color=colours[c]) for c in servers]
        axes.legend(handles, servers, frameon=False, labelcolor=GREY, fontsize=8.5, loc="lower right")
    axes.text(1.015, 0.15, "Mayfly / other", transform=axes.get_yaxis_transform(), ha="left", va="center", fontsize=8)
    figure.savefig(path, transparent=True, bbox_inches="tight", metadata={"Date": None} if path.endswith("svg") else None)
    pyplot.close(figure)


def _frame(axes, bottom, most):
    axes.set_xscale("log")
    ticks = [t for t in (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if t <= most * 1.6]
    least = min((0.8, *(patch.get_x() + min(patch.get_width(), 0) for patch in axes.patches)))
    axes.set_xlim(least * 0.95, most * 1.6)
    axes.set_xticks([t for t in ticks if t >= least], [f"{t:g}x" for t in ticks if t >= least], color=GREY, fontsize=8)
    axes.minorticks_off()
    axes.set_ylim(bottom, -0.3)
    axes.set_yticks([])
    axes.tick_params(axis="x", color=GREY, length=0)
    axes.grid(axis="x", color=GREY, alpha=0.25, linewidth=0.7)
    axes.axvline(1, color=GREY, linewidth=1)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_visible(False)
