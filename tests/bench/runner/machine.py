"""The machine: which processors measure, how many files may be open, how much memory is left."""

import os
import platform
import re
import resource


def processors():
    """(the servers' processor, the clients'); (None, None) where there is only one."""
    allowed = sorted(os.sched_getaffinity(0))
    return (allowed[0], allowed[1]) if len(allowed) > 1 else (None, None)


def available_bytes():
    """What a server may still take: the kernel's estimate, or less where a control group allows less."""
    with open("/proc/meminfo", encoding="ascii") as file:
        free = int(re.search(r"MemAvailable:\s+(\d+)", file.read())[1]) * 1024
    try:
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as limit, open(
            "/sys/fs/cgroup/memory.current", encoding="ascii"
        ) as used:
            free = min(free, int(limit.read()) - int(used.read()))
    except (OSError, ValueError):
        # No control group, or "max": no limit of its own.
        pass
    return free


def raise_file_limit():
    """Raises this process's limit, which its children inherit, as far as it goes; returns the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def describe():
    """What a reader of the figures should know of the machine."""
    model = re.search(r"model name\s*:\s*(.*)", _text("/proc/cpuinfo"))
    system = re.search(r'PRETTY_NAME="(.*)"', _text("/etc/os-release"))
    return {
        "processor": model[1] if model else platform.machine(),
        "processors": len(os.sched_getaffinity(0)),
        "system": system[1] if system else platform.system(),
        "kernel": platform.release(),
    }


def _text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
