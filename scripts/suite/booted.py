"""A Debian system that runs: systemd as process 1 of namespaces of its own, over a root folder, with no network but its
loopback."""

import contextlib
import os
import signal
import subprocess
import time

from container import Failed

BOOT_S = 60
PATIENCE_S = 60
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_GROUPS = ("/sys/fs/cgroup/unified", "/sys/fs/cgroup")  # where cgroup2 is, on systems with and without the older one
# A cgroup namespace begins where its first process is, so that one must be in the group before.
_BOOT = r"""
set -e
echo $$ > "$2/cgroup.procs"
exec unshare --fork --pid --mount --net --uts --ipc --cgroup --kill-child=KILL sh -ec '
mount --make-rprivate /
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount -t sysfs sysfs "$1/sys"
mount -t cgroup2 none "$1/sys/fs/cgroup"
for folder in run tmp dev; do mount -t tmpfs -o mode=755 none "$1/$folder"; done
chmod 1777 "$1/tmp"
for device in $3; do touch "$1/dev/$device"; mount --bind "/dev/$device" "$1/dev/$device"; done
mkdir "$1/dev/pts" "$1/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 none "$1/dev/pts"
ln -s pts/ptmx "$1/dev/ptmx"
# Nothing in it changes the kernel of this machine.
mount --bind "$1/proc/sys" "$1/proc/sys"
mount -o remount,bind,ro "$1/proc/sys"
mount -o remount,bind,ro "$1/sys"
ip link set lo up
# Not chroot: in a changed root the kernel makes no user namespace, which PrivateUsers= of a unit is.
cd "$1"
mkdir -p old-root
pivot_root . old-root
umount -l old-root
exec env -i container=mayfly-test PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
  /lib/systemd/systemd --system --show-status=no
' sh "$@"
"""


class Machine:
    """Boots the system in `root`; at the end everything in it is killed."""

    def __init__(self, root, work):
        groups = next((path for path in _GROUPS if os.path.exists(os.path.join(path, "cgroup.controllers"))), None)
        if groups is None:
            raise Failed("there is no cgroup2 here")
        self._group = os.path.join(groups, f"mayfly-test-{os.getpid()}")
        os.mkdir(self._group)
        self._log = open(os.path.join(work, "machine.log"), "w+b")
        self._process = subprocess.Popen(
            ["sh", "-c", _BOOT, "sh", root, self._group, " ".join(_DEVICES)],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )

    def _first(self):
        """The host's id of the machine's process 1, or None while there is none."""
        with contextlib.suppress(OSError):
            with open(f"/proc/{self._process.pid}/task/{self._process.pid}/children", encoding="ascii") as file:
                return file.read().split()[:1]
        return None

    def run(self, *command):
        """(exit code, what it printed on both streams) of a command that runs inside."""
        first = self._first()
        if not first:
            return 255, "the machine does not run"
        enter = ["nsenter", "--target", *first, "--mount", "--net", "--pid", "--uts", "--ipc", "--cgroup", "--root", "--wd"]
        clean = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]
        done = subprocess.run(
            [*enter, *clean, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        return done.returncode, done.stdout.decode(errors="replace").strip()

    def said(self, *command):
        """What a command prints. Raises Failed unless it ends with 0."""
        code, text = self.run(*command)
        if code != 0:
            raise Failed(f"{' '.join(command)}: exit code {code}\n{text[-8000:]}\n{self.journal()}")
        return text

    def shell(self, script):
        return self.said("bash", "-ec", script)

    def journal(self):
        return self.run("journalctl", "--no-pager", "--lines=30")[1]

    def wait(self, what, condition):
        """Until the condition holds, or the test has waited for too long."""
        end = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > end:
                raise Failed(f"not within {PATIENCE_S} s: {what}\n{self.journal()}")
            time.sleep(0.05)

    def __enter__(self):
        end = time.monotonic() + BOOT_S
        while self.run("systemctl", "is-system-running")[1] not in ("running", "degraded"):
            if self._process.poll() is not None or time.monotonic() > end:
                self.__exit__()
                self._log.close()
                with open(self._log.name, encoding="utf-8", errors="replace") as log:
                    raise Failed(f"systemd does not start in a container here\n{log.read()[-4000:]}")
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        first = self._first()
        if first:
            # With process 1 of its namespace all others end.
            os.kill(int(first[0]), signal.SIGKILL)
        elif self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._log.flush()
        for folder, _, _ in os.walk(self._group, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)
