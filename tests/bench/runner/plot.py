"""The plots. The one of README.md's rows: how many times Mayfly's value each other server's is, on a logarithmic scale. And
panels of bars, for a section that has a plot of its own.

One file serves dark and light pages: the background is transparent, the text of a middle grey.
"""

from figures import BARE, OURS
from table import columns_of, number

GREY = "#7d8590"
COLOURS = ("#3f83d6", "#d1862c", "#2f9e77", "#b565c0")
ROW_INCHES = 0.42


class NoLibrary(Exception):
    """matplotlib is missing."""


class NothingToShow(Exception):
    """None of the figures has a place in the plot."""


def rows_of(sections):
    """(the other servers, [(label, {server: ratio}, values as text)]) of README.md's rows that have a ratio."""
    shown = [f for _, figures in sections for f in figures if f.front]
    servers = [c for c in columns_of(shown) if c not in (OURS, BARE) and any(f.ratio(c) for f in shown)]
    rows = []
    for figure in shown:
        ratios = {c: figure.ratio(c) for c in servers if figure.ratio(c)}
        if ratios:
            values = " / ".join(number(figure.value(c)) for c in (OURS, *servers))
            rows.append((figure.front, ratios, f"{values} {figure.unit}".strip()))
    return servers, rows


def _bars(axes, y, ratios, colours):
    height = 0.72 / len(ratios)
    for i, (column, ratio) in enumerate(ratios.items()):
        at = y - 0.36 + (i + 0.5) * height
        axes.barh(at, ratio - 1, left=1, height=height * 0.92, color=colours[column], linewidth=0)
        axes.text(max(ratio, 1) * 1.04, at, f"{ratio:.1f}x", va="center", ha="left", color=GREY, fontsize=8)


def draw(sections, versions, path):
    """Writes the plot; its name's ending chooses the format."""
    draw_rows(*rows_of(sections), versions, path)


def draw_rows(servers, rows, versions, path):
    """The same of such rows as rows_of returns."""
    if not rows:
        raise NothingToShow("no plot: no figure of it was measured")
    pyplot = _pyplot()
    colours = {c: COLOURS[i % len(COLOURS)] for i, c in enumerate(servers)}
    figure, axes = pyplot.subplots(figsize=(9.2, len(rows) * ROW_INCHES + 1.0))
    beside = axes.get_yaxis_transform()
    for y, (label, ratios, values) in enumerate(rows, 1):
        _bars(axes, y, ratios, colours)
        axes.text(-0.012, y, label, transform=beside, ha="right", va="center", fontsize=8.5)
        axes.text(1.015, y, values, transform=beside, ha="left", va="center", fontsize=8)
    _frame(axes, len(rows) + 1, max(2.0, *(r for _, ratios, _ in rows for r in ratios.values())))
    named = ", ".join(f"{c.capitalize()} {versions.get(c, '')}".strip() for c in servers)
    axes.text(0, -0.55, f"How many times what Mayfly needs: {named}", transform=beside, ha="left", va="center", fontsize=10)
    axes.text(1.015, 0.3, " / ".join(["Mayfly", *servers]), transform=beside, ha="left", va="center", fontsize=8)
    if len(servers) > 1:
        handles = [pyplot.Rectangle((0, 0), 1, 1, color=colours[c]) for c in servers]
        axes.legend(handles, servers, frameon=False, labelcolor=GREY, fontsize=8.5, loc="lower right")
    _save(pyplot, figure, path)


def panels(labels, shown, path):
    """A row for each label and a panel for each of `shown`, (title, a number or None for each label), on logarithmic scales."""
    if not any(v for _, values in shown for v in values):
        raise NothingToShow("no plot: no figure of it was measured")
    pyplot = _pyplot()
    figure, all_axes = pyplot.subplots(1, len(shown), figsize=(9.2, len(labels) * ROW_INCHES + 0.6), sharey=True)
    for i, (title, values) in enumerate(shown):
        axes = all_axes[i]
        known = [v for v in values if v]
        least = min([1, *known]) * 0.5
        for y, value in enumerate(values):
            if value:
                axes.barh(y, value - least, left=least, height=0.6, color=COLOURS[i % len(COLOURS)], linewidth=0)
                axes.text(value * 1.1, y, number(value), va="center", ha="left", color=GREY, fontsize=8.5)
        axes.set_xscale("log")
        axes.set_xlim(least, max([1, *known]) * 6)
        axes.set_title(title, fontsize=9.5, color=GREY)
        axes.set_xticks([])
        axes.minorticks_off()
        axes.set_yticks(range(len(labels)), labels, color=GREY, fontsize=9)
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.tick_params(axis="both", length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
    _save(pyplot, figure, path)


def lines(curves, x_label, y_label, path):
    """A line for each name of `curves`, {name: [(x, y)]}."""
    if not any(len(points) > 1 for points in curves.values()):
        raise NothingToShow("no plot: no figure of it was measured")
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(figsize=(9.2, 3.6))
    for i, (name, points) in enumerate(curves.items()):
        xs, ys = zip(*points)
        axes.plot(xs, ys, color=COLOURS[i % len(COLOURS)], linewidth=2, label=name, marker="o", markersize=3)
    axes.set_xlabel(x_label, color=GREY, fontsize=9)
    axes.set_ylabel(y_label, color=GREY, fontsize=9)
    axes.tick_params(axis="both", colors=GREY, labelsize=8, length=0)
    axes.grid(color=GREY, alpha=0.25, linewidth=0.7)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.legend(frameon=False, labelcolor=GREY, fontsize=8.5)
    _save(pyplot, figure, path)


def grid(panels, ticks, x_label, y_label, path):
    """Panels side by side with the same axes, {title: {name: [a number or None for each of `ticks`]}}; the numbers are on a logarithmic
    scale."""
    if not any(v for curves in panels.values() for values in curves.values() for v in values):
        raise NothingToShow("no plot: no figure of it was measured")
    pyplot = _pyplot()
    figure, all_axes = pyplot.subplots(1, len(panels), figsize=(9.2, 3.2), sharey=True, squeeze=False)
    for axes, (title, curves) in zip(all_axes[0], panels.items()):
        for i, (name, values) in enumerate(curves.items()):
            points = [(x, v) for x, v in enumerate(values) if v]
            if points:
                axes.plot(*zip(*points), color=COLOURS[i % len(COLOURS)], linewidth=2, label=name, marker="o", markersize=3)
        axes.set_title(title, fontsize=9, color=GREY)
        axes.set_yscale("log")
        axes.set_xticks(range(len(ticks)), ticks)
        axes.set_xlabel(x_label, color=GREY, fontsize=8)
        axes.tick_params(axis="both", which="both", colors=GREY, labelsize=7, length=0)
        axes.grid(color=GREY, alpha=0.25, linewidth=0.7)
        axes.set_axisbelow(True)
        for spine in axes.spines.values():
            spine.set_visible(False)
    all_axes[0][0].set_ylabel(y_label, color=GREY, fontsize=9)
    all_axes[0][0].legend(frameon=False, labelcolor=GREY, fontsize=8, loc="upper left")
    _save(pyplot, figure, path)


def _pyplot():
    try:
        import matplotlib
    except ImportError as problem:
        raise NoLibrary("no plot: matplotlib is missing") from problem
    matplotlib.use("Agg")
    # The same figures make the same file.
    matplotlib.rcParams.update({"svg.hashsalt": "mayfly", "font.family": "DejaVu Sans", "text.color": GREY})
    from matplotlib import pyplot

    return pyplot


def _save(pyplot, figure, path):
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
