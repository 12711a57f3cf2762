"""Debian systems in a folder, made by debootstrap from this machine's own mirror."""

import os
import re
import shutil
import subprocess

from container import Failed

# How this machine reaches its mirror (proxies and the like), but not which files it fetches there.
_REACH = re.compile(r"^Acquire::(?!IndexTargets|cdrom|Languages|CompressionTypes|Changelogs)\S+ \"")


def said(*command):
    """What a command prints. Raises Failed unless it ends with 0."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}\n{done.stdout[-8000:]}{done.stderr[-8000:]}")
    return done.stdout


def expect(truth, text):
    if not truth:
        raise Failed(text)


def mirrors():
    """The lines of a sources.list for the Debian mirrors of this machine."""
    form = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    lines = said("apt-get", "indextargets", "--format", form, "Identifier: Packages", "Origin: Debian")
    lines = [f"deb {line}" for line in sorted(set(lines.splitlines())) if line.split()[1].startswith("bookworm")]
    if not lines:
        raise Failed("apt knows no Debian mirror of bookworm here")
    return lines


def make_root(root, packages=(), without=()):
    """Makes a minimal Debian in `root` unless it is there, with further packages and without some folders. Its apt uses
    this machine's mirror."""
    lines = mirrors()
    if not os.path.exists(os.path.join(root, "complete")):
        shutil.rmtree(root, ignore_errors=True)
        mirror = next((line.split()[1] for line in lines if line.split()[2] == "bookworm"), None)
        wanted = [*packages, *(["ca-certificates"] if mirror.startswith("https:") else [])]
        include = [f"--include={','.join(wanted)}"] if wanted else []
        said("debootstrap", "--variant=minbase", *include, "bookworm", root, mirror)
        for part in without:
            shutil.rmtree(os.path.join(root, part), ignore_errors=True)
        open(os.path.join(root, "complete"), "w").close()
    apt = os.path.join(root, "etc", "apt")
    with open(os.path.join(apt, "sources.list"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    with open(os.path.join(apt, "apt.conf.d", "reach"), "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in said("apt-config", "dump").splitlines() if _REACH.match(line))
