"""A container without a container engine: what unshare and chroot make of an image's root and configuration."""

import contextlib
import os
import signal
import subprocess
import time

HEALTHY_S = 30
STOP_S = 30


class Failed(Exception):
    """A step that failed; its text says why."""


class Container:
    """The image's program in namespaces of its own, over a read-only root with a volume at each of its volumes: an empty one,
    or the folder `kept`, which outlives the container."""

    def __init__(self, root, config, work, kept=None):
        self._config = config
        self._log = open(os.path.join(work, "container.log"), "w+b")
        words = [f"cd {config.get('WorkingDir') or '/'}", "exec " + " ".join(map(_quoted, self._command()))]
        # A volume begins as the image's folder: its owner is kept.
        mounts = ['mount --bind "$0" "$0"', 'mount -t proc proc "$0/proc"', 'mount --rbind /dev "$0/dev"']
        mounts += ['mount -t tmpfs none "$0/tmp"']
        for volume in config.get("Volumes") or ():
            if kept is not None:
                mounts.append(f'mount --bind {_quoted(kept)} "$0{volume}"')
                continue
            owner = f'$(stat -c uid=%u,gid=%g,mode=%a "$0{volume}")'
            mounts.append(f'mount -t tmpfs -o "{owner}" none "$0{volume}"')
        mounts += ['mount -o remount,bind,ro "$0"', "ip link set lo up"]
        user = config.get("User") or "root"
        enter = f'exec chroot --userspec={user} "$0" env -i {self._environment()} sh -c {_quoted(" && ".join(words))}'
        spaces = ["--fork", "--pid", "--mount", "--net", "--uts", "--ipc", "--kill-child=KILL"]
        self.started = time.monotonic()
        self._process = subprocess.Popen(
            ["unshare", *spaces, "sh", "-ec", "\n".join([*mounts, enter]), root],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )

    def _command(self):
        return [*(self._config.get("Entrypoint") or ()), *(self._config.get("Cmd") or ())]

    def _environment(self):
        return " ".join(_quoted(variable) for variable in self._config.get("Env") or ())

    def log(self):
        self._log.seek(0)
        return self._log.read().decode(errors="replace")

    def first(self):
        """The host's id of the container's process 1, or None while there is none."""
        path = f"/proc/{self._process.pid}/task/{self._process.pid}/children"
        with contextlib.suppress(OSError):
            with open(path, encoding="ascii") as file:
                children = file.read().split()
            return int(children[0]) if children else None
        return None

    def status(self, field):
        with open(f"/proc/{self.first()}/status", encoding="ascii") as file:
            return next(line.split()[1:] for line in file if line.startswith(field + ":"))

    def check(self, test):
        """Whether the health check `test` (["CMD", word...]) succeeds inside, as the container's user."""
        pid = self.first()
        if pid is None:
            return False
        kind, *words = test
        if kind == "CMD-SHELL":
            words = ["/bin/sh", "-c", *words]
        inside = ["nsenter", "--target", str(pid), "--mount", "--net", "--pid", "--root", "--wd"]
        inside += ["--setuid", self.status("Uid")[0], "--setgid", self.status("Gid")[0]]
        command = [*inside, "env", "-i", *(self._config.get("Env") or ()), *words]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
        return done.returncode == 0

    def ask(self, *requests):
        """The replies to inline commands, as bytes on the wire; asked from within the container's network."""
        lines = "".join(request + "\\r\\n" for request in (*requests, "QUIT"))
        script = f"exec 3<>/dev/tcp/127.0.0.1/6379; printf '{lines}' >&3; cat <&3"
        inside = ["nsenter", "--target", str(self.first()), "--net", "bash", "-c", script]
        done = subprocess.run(inside, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return done.stdout.replace("\r\n", "\n").removesuffix("+OK\n").strip("\n")

    def wait_healthy(self, test):
        end = self.started + HEALTHY_S
        while not self.check(test):
            if self._process.poll() is not None or time.monotonic() > end:
                raise Failed(f"not healthy within {HEALTHY_S} s\n{self.log()}")
            time.sleep(0.02)
        return time.monotonic() - self.started

    def stop(self):
        """SIGTERM to process 1; the exit code."""
        os.kill(self.first(), signal.SIGTERM)
        try:
            return self._process.wait(STOP_S)
        except subprocess.TimeoutExpired as late:
            raise Failed(f"no end within {STOP_S} s of SIGTERM\n{self.log()}") from late

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._log.close()


def _quoted(word):
    return "'" + word.replace("'", "'\\''") + "'"
