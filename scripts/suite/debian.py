"""Debian and Ubuntu systems in a folder, made by debootstrap from the mirrors that this machine reaches."""

import os
import re
import shutil
import subprocess

from container import Failed

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
# How this machine reaches its mirror (proxies and the like), but not which files it fetches there.
_REACH = re.compile(r"^Acquire::(?!IndexTargets|cdrom|Languages|CompressionTypes|Changelogs)\S+ \"")
# The parts of a mirror that a system uses.
_COMPONENTS = {"Debian": "main", "Ubuntu": "main universe"}


def said(*command):
    """What a command prints. Raises Failed unless it ends with 0."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}\n{done.stdout[-8000:]}{done.stderr[-8000:]}")
    return done.stdout


def expect(truth, text):
    if not truth:
        raise Failed(text)


def own_release():
    """(distribution, release) of this machine: ("Debian", "bookworm")."""
    with open("/etc/os-release", encoding="utf-8") as file:
        fields = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', file.read(), re.M))
    return fields.get("ID", "").capitalize(), fields.get("VERSION_CODENAME", "")


def sources_here(distribution, release):
    """[(uri, suite)] of this machine's own sources for a release."""
    form = "$(REPO_URI) $(RELEASE)"
    lines = said("apt-get", "indextargets", "--format", form, "Identifier: Packages", f"Origin: {distribution}")
    sources = sorted({tuple(line.split()) for line in lines.splitlines()})
    return [(uri, suite) for uri, suite in sources if suite.startswith(release)]


def mirror_of(distribution, release):
    """The mirror of this machine that has a release, or none ("": debootstrap knows one)."""
    sources = sources_here(distribution, release) or sources_here(distribution, "")
    return next((uri for uri, suite in sources if "security" not in uri and "security" not in suite), "")


def keyring_of(distribution):
    """The file with the keys of a distribution's archive. Ubuntu's is unpacked where this machine has none."""
    name = f"usr/share/keyrings/{distribution.lower()}-archive-keyring.gpg"
    if os.path.exists(f"/{name}"):
        return f"/{name}"
    unpacked = os.path.join(ROOT, "build", "ubuntu-keyring")
    said(os.path.join(ROOT, "scripts", "unpack-packages"), "amd64", "ubuntu-keyring", unpacked, "trixie")
    return os.path.join(unpacked, name)


def make_root(root, packages=(), without=(), distribution="Debian", release="bookworm"):
    """Makes a minimal system in `root` unless it is there, with further packages and without some folders. Its apt uses the
    mirror that it was made from, and the other sources that this machine has for it."""
    apt = os.path.join(root, "etc", "apt")
    if not os.path.exists(os.path.join(root, "complete")):
        shutil.rmtree(root, ignore_errors=True)
        mirror = mirror_of(distribution, release)
        wanted = [*packages, *(["ca-certificates"] if mirror.startswith("https:") else [])]
        options = ["--variant=minbase", f"--components={_COMPONENTS[distribution].replace(' ', ',')}"]
        options += [f"--keyring={keyring_of(distribution)}", *([f"--include={','.join(wanted)}"] if wanted else [])]
        # Debian's debootstrap knows all releases of Ubuntu by that of one, but not the names of all.
        script = ["/usr/share/debootstrap/scripts/gutsy"] if distribution == "Ubuntu" else []
        said("debootstrap", *options, release, root, *([mirror] if mirror or script else []), *script)
        for part in without:
            shutil.rmtree(os.path.join(root, part), ignore_errors=True)
        with open(os.path.join(apt, "sources.list"), encoding="utf-8") as file:
            uri = next(line.split()[1] for line in file if line.startswith("deb "))
        with open(os.path.join(root, "complete"), "w", encoding="utf-8") as file:
            file.write(uri)
    with open(os.path.join(root, "complete"), encoding="utf-8") as file:
        made_from = file.read().strip()
    sources = sources_here(distribution, release) or [(made_from, release), (made_from, f"{release}-updates")]
    with open(os.path.join(apt, "sources.list"), "w", encoding="utf-8") as file:
        file.writelines(f"deb {uri} {suite} {_COMPONENTS[distribution]}\n" for uri, suite in sources)
    with open(os.path.join(apt, "apt.conf.d", "reach"), "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in said("apt-config", "dump").splitlines() if _REACH.match(line))
