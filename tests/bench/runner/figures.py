"""What a section hands back: figures, each with one value for every column and, where there is one, a target.

Less is better in every figure (time, bytes, instructions, misses), so `other / mayfly` says how many times better
Mayfly is. A column is a server ("mayfly", "redis", "bare server") or another design ("binary heap"). What could not be
measured is a Trouble in its cell: it is shown, and it is never a number.
"""

import statistics
from dataclasses import dataclass, field

OURS = "mayfly"
BARE = "bare server"


@dataclass(frozen=True)
class Trouble:
    """Why a cell has no number: a server that refused, a tool that is missing, too little memory."""

    text: str


@dataclass(frozen=True)
class Target:
    """Mayfly's value is to be at most `factor`, or at most `factor` times another column's value."""

    factor: float
    of: str = ""
    text: str = ""

    def limit(self, figure):
        """The greatest value that meets the target; None where the other column has no number."""
        if not self.of:
            return self.factor
        other = figure.value(self.of)
        return None if other is None else self.factor * other


def at_most(limit):
    return Target(limit, "", f"<= {limit:g}")


def times_better(factor, than):
    """At most the value of the column `than` divided by `factor`."""
    return Target(1 / factor, than, f"{than} / {factor:g}")


def within(factor, of):
    return Target(factor, of, f"{factor:g} x {of}")


@dataclass
class Figure:
    name: str
    unit: str
    target: Target | None = None
    # Whether docs/benchmarks.md shows it.
    main: bool = False
    # Its name in the short table of README.md; "" if it is not there.
    front: str = ""
    # Column -> the numbers of all rounds; the median counts.
    samples: dict = field(default_factory=dict)
    # Column -> Trouble. A column with a Trouble has no value, even if other rounds gave numbers.
    troubles: dict = field(default_factory=dict)

    def add(self, column, value):
        """A number of one round, or the Trouble that came instead."""
        if isinstance(value, Trouble):
            self.troubles.setdefault(column, value)
        else:
            self.samples.setdefault(column, []).append(value)

    def columns(self):
        return list(dict.fromkeys([*self.samples, *self.troubles]))

    def value(self, column):
        if column in self.troubles or not self.samples.get(column):
            return None
        return statistics.median(self.samples[column])

    def ratio(self, column):
        """How many times Mayfly's value another column's is; None without both numbers."""
        ours, other = self.value(OURS), self.value(column)
        return None if not ours or other is None else other / ours

    def met(self):
        """True or False; None where there is no target or its numbers are missing."""
        ours = self.value(OURS)
        limit = self.target.limit(self) if self.target else None
        return None if ours is None or limit is None else ours <= limit


def add_parts(rows, column, got):
    """Adds each number of `got` to the row of its name, or the Trouble that came instead to all rows. Not every server has every number."""
    for part, row in rows.items():
        if isinstance(got, Trouble):
            row.add(column, got)
        elif part in got:
            row.add(column, got[part])


class Figures:
    """A section's figures in the order of their first mention."""

    def __init__(self):
        self._by_name = {}

    def figure(self, name, unit, target=None, main=False, front=""):
        """The figure of that name, made if it is new."""
        return self._by_name.setdefault(name, Figure(name, unit, target, main, front))

    def all(self):
        return list(self._by_name.values())


def to_data(figure):
    """The figure as JSON holds it."""
    target = figure.target and {"factor": figure.target.factor, "of": figure.target.of, "text": figure.target.text}
    return {
        "name": figure.name,
        "unit": figure.unit,
        "main": figure.main,
        "front": figure.front,
        "target": target,
        "met": figure.met(),
        "median": {c: figure.value(c) for c in figure.columns()},
        "samples": figure.samples,
        "troubles": {c: t.text for c, t in figure.troubles.items()},
    }


def from_data(data):
    target = Target(**data["target"]) if data["target"] else None
    troubles = {c: Trouble(t) for c, t in data["troubles"].items()}
    return Figure(data["name"], data["unit"], target, data["main"], data["front"], dict(data["samples"]), troubles)
