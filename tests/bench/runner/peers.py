"""Servers of a few sections besides those that every section measures."""

import shutil

from figures import OURS
from servers import Spec

NEWER, NEWER_PROGRAM = "redis 8", "redis-server-8"


def newer_redis(bench):
    """Redis of version 8 as a list of a server, with the options of "redis"; empty where the program is missing."""
    like = next((spec.command for spec in bench.specs if spec.name == "redis"), None)
    if like is None or not shutil.which(NEWER_PROGRAM):
        return []
    return [Spec(NEWER, " ".join([NEWER_PROGRAM, *like.split(" ")[1:]]))]


def ours_first(bench):
    """(Mayfly, the other servers)"""
    ours = [spec for spec in bench.specs if spec.name == OURS]
    return ours, [spec for spec in bench.specs if spec.name != OURS]
