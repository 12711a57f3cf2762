"""Both commands of the README in a new system: a minimal Debian or Ubuntu without any package that a build or a test needs.

The system is made anew in build/systems, with a clone of the newest commit in it. `scripts/run` must answer a PING there, and the
last line of `scripts/test` counts here. The time of each is shown. The system has its own processes and its own view of
/proc, and shares the network, over which it gets its packages.
"""

import os
import re
import shutil
import subprocess
import time
import traceback

from container import Failed
from debian import make_root, said

# Option: distribution, release, and the name that people say.
SYSTEMS = {
    "debian12": ("Debian", "bookworm", "Debian 12"),
    "debian13": ("Debian", "trixie", "Debian 13"),
    "ubuntu": ("Ubuntu", "noble", "Ubuntu 24.04"),
}
_COUNTS = re.compile(r"^(\d+) passed, (\d+) failed$", re.M)
PONG_LIMIT_S = 1800
TEST_LIMIT_S = 5400


def inside(root, script, limit_s):
    """Runs a bash script in the clone within `root`. Returns whether it ended with 0, and what it printed."""
    mounts = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" && mount -t tmpfs none "$0/tmp"'
    enter = 'exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 bash -c "cd /mayfly && $1"'
    command = ["unshare", "--fork", "--pid", "--mount", "--uts", "--ipc", "--kill-child=KILL", "sh", "-c", f"{mounts} && {enter}", root, script]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit_s)
    except subprocess.TimeoutExpired as late:
        return False, (late.stdout or b"").decode(errors="replace") + f"\nno end within {limit_s} s"
    return done.returncode == 0, done.stdout.decode(errors="replace")


def make(root_of_project, name):
    distribution, release, _ = SYSTEMS[name]
    folder = os.path.join(root_of_project, "build", "systems")
    os.makedirs(folder, exist_ok=True)
    root = os.path.join(folder, name)
    shutil.rmtree(root, ignore_errors=True)
    make_root(root, distribution=distribution, release=release)
    said("git", "clone", "--quiet", "--no-hardlinks", root_of_project, os.path.join(root, "mayfly"))
    return root


def run(tally, root_of_project, name, options):
    """`options` go to scripts/test."""
    title = SYSTEMS[name][2]
    started = time.monotonic()
    try:
        root = make(root_of_project, name)
    except (Failed, OSError, StopIteration):
        tally.step(f"{title}: a new system", 0, 1, time.monotonic() - started, traceback.format_exc())
        return
    tally.step(f"{title}: a new system", 1, 0, time.monotonic() - started)

    started = time.monotonic()
    ok, text = inside(root, "scripts/suite/first_pong", PONG_LIMIT_S)
    tally.step(f"{title}: scripts/run, to the first PONG", int(ok), int(not ok), time.monotonic() - started, text)

    started = time.monotonic()
    _, text = inside(root, " ".join(["scripts/test", *options]), TEST_LIMIT_S)
    counted = _COUNTS.findall(text)
    passed, failed = map(int, counted[-1]) if counted else (0, 1)
    tally.step(f"{title}: scripts/test", passed, failed, time.monotonic() - started, text)
    if not failed:
        shutil.rmtree(root)
