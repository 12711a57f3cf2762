"""The figures of a run as a file, and back."""

import json
from dataclasses import dataclass, field

from figures import Trouble, from_data, to_data


class NotUsable(Exception):
    """A file of figures that cannot be used."""


@dataclass
class Results:
    # When, and of which commit.
    measured: dict
    machine: dict
    quick: bool
    # Column -> version.
    versions: dict = field(default_factory=dict)
    # Section's name -> its figures, or a Trouble.
    sections: dict = field(default_factory=dict)


def missing(results):
    """The sections in which something could not be measured."""
    return [n for n, f in results.sections.items() if isinstance(f, Trouble) or any(figure.troubles for figure in f)]


def write(results, path):
    found = {n: {"trouble": f.text} if isinstance(f, Trouble) else [to_data(x) for x in f] for n, f in results.sections.items()}
    data = {"measured": results.measured, "machine": results.machine, "quick": results.quick}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(data | {"versions": results.versions, "sections": found}, file, indent=1)
        file.write("\n")


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        found = {
            n: Trouble(f["trouble"]) if isinstance(f, dict) else [from_data(x) for x in f]
            for n, f in data["sections"].items()
        }
        return Results(data["measured"], data["machine"], data["quick"], data["versions"], found)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise NotUsable(f"{path}: {problem}") from problem
