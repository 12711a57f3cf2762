"""Servers that keep a snapshot file in the scratch folder, one each."""

import os

from servers import Spec


def file_of(bench, spec):
    return os.path.join(bench.folder, f"{spec.name}.rdb")


def with_file(bench, spec):
    """The same server with a file of its own. It saves only if asked to."""
    return Spec(spec.name, f"{spec.command} --dir {bench.folder} --dbfilename {spec.name}.rdb")


def saving(bench, spec):
    """The same server, which also saves when it is stopped."""
    return Spec(spec.name, f'{with_file(bench, spec).command} --save "3600 1"')
