"""The Dockerfile, built and run without a daemon and without a registry, and the compose file.

A debootstrap root, kept in build/image, takes the base image's name; buildah makes the unchanged Dockerfile's image in
a store of its own; a container is what unshare and chroot make of that image's configuration. It must become healthy by
its own HEALTHCHECK, run its program as process 1 without root's rights, and end with 0 on SIGTERM.
"""

import json
import os
import subprocess
import time
import traceback

from container import Container, Failed
from debian import expect, make_root, said

NAME = "localhost/mayfly-test"
BASES = ("docker.io/library/debian:bookworm", "docker.io/library/debian:bookworm-slim")
# What a slim image lacks.
_FAT = ("usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale", "var/cache/apt", "var/lib/apt/lists")


class Store:
    """buildah with images and containers of its own under `folder`; vfs works where overlay does not."""

    def __init__(self, folder):
        self._words = ["buildah", "--root", os.path.join(folder, "store"), "--runroot", os.path.join(folder, "run")]
        self._words += ["--storage-driver", "vfs"]

    def __call__(self, *words):
        return said(*self._words, *words).strip()


def import_base(store, folder):
    """Makes a minimal Debian under the names of the Dockerfile's base images. Its apt uses this machine's mirror."""
    root = os.path.join(folder, "debian")
    make_root(root, without=_FAT)
    with open(os.path.join(root, "etc", "apt", "apt.conf.d", "slim"), "w", encoding="utf-8") as file:
        # As in the image whose name it takes: apt keeps nothing.
        file.write('Dir::Cache { pkgcache ""; srcpkgcache ""; };\n')
        file.write('DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb"; };\n')
    container = store("from", "scratch")
    store("copy", "--quiet", container, root, "/")
    store("config", "--cmd", "bash", container)
    store("commit", "--quiet", "--rm", container, BASES[0])
    store("tag", BASES[0], BASES[1])


def megabytes(folder):
    return int(said("du", "--summarize", "--block-size=1M", "--one-file-system", folder).split()[0])


def build_image(store, root):
    # Removes the images that earlier runs left without a name.
    store("rmi", "--prune")
    store("bud", "--isolation", "chroot", "--format", "docker", "--pull-never", "--tag", NAME, root)


def check_sbom(tree, root, work, say):
    """docs/releases.md makes the image's SBOM from the packages that the image says it has."""
    form = "beside ${Package} ${Version} ${Architecture}\\n"
    listed = said("chroot", root, "dpkg-query", "--show", f"--showformat={form}")
    words = [os.path.join(tree, "scripts", "sbom"), os.path.join(root, "usr", "local", "bin", "mayfly"), "mayfly-image", "0", "amd64"]
    words += ["--os-release", os.path.join(root, "etc", "os-release")]
    done = subprocess.run(words, input=listed, stdout=subprocess.PIPE, text=True)
    expect(done.returncode == 0, "scripts/sbom failed")
    with open(os.path.join(work, "mayfly-image.spdx.json"), "w", encoding="utf-8") as file:
        file.write(done.stdout)
    names = {package["name"] for package in json.loads(done.stdout)["packages"]}
    with open(os.path.join(root, "var", "lib", "dpkg", "status"), encoding="utf-8") as file:
        installed = {line.split()[1] for line in file if line.startswith("Package: ")}
    expect(names - {"mayfly-image"} == installed and "libuv1" in names, f"the SBOM has {sorted(names)}")
    say(f"SBOM: {len(names)} packages")


def run_image(tree, store, work, say):
    image = json.loads(store("inspect", "--type", "image", NAME))
    config = image["Docker"]["config"]
    health = config.get("Healthcheck") or {}
    expect(health.get("Test"), "the image has no health check")
    expect(config.get("Volumes"), "the image has no volume")
    container = store("from", NAME)
    try:
        root = store("mount", container)
        check_sbom(tree, root, work, say)
        with Container(root, config, work) as running:
            start_s = running.wait_healthy(health["Test"])
            expect(running.status("NSpid")[-1] == "1", "the program is not process 1 of its container")
            expect(running.status("Name")[0] == "mayfly", "process 1 is not the daemon")
            expect("0" not in running.status("Uid") + running.status("Gid"), "the program runs as root")
            code = running.stop()
            expect(code == 0, f"exit code {code} after SIGTERM\n{running.log()}")
        base = megabytes(os.path.join(work, "debian"))
        say(f"image {megabytes(root)} MB, of it the base {base} MB; healthy after {start_s * 1000:.0f} ms")
    finally:
        store("rm", container)


def volume_of(work, name, uid):
    folder = os.path.join(work, name)
    said("rm", "-rf", folder)
    os.mkdir(folder, 0o755)
    os.chown(folder, uid, uid)
    return folder


def restart_image(store, work, say):
    """Keys survive `docker stop` and a new container with the same volume; a volume of root's is told of."""
    config = json.loads(store("inspect", "--type", "image", NAME))["Docker"]["config"]
    health = config["Healthcheck"]["Test"]
    container = store("from", NAME)
    try:
        root = store("mount", container)
        uid = int(said("stat", "-c", "%u", os.path.join(root, "data")))
        folder = volume_of(work, "volume", uid)
        with Container(root, config, work, kept=folder) as first:
            first.wait_healthy(health)
            expect(first.ask("SET k v") == "+OK", f"SET\n{first.log()}")
            expect(first.stop() == 0, f"it did not end well\n{first.log()}")
            expect("saved 1 keys" in first.log(), f"docker stop did not save\n{first.log()}")
        with Container(root, config, work, kept=folder) as second:
            second.wait_healthy(health)
            expect(second.ask("GET k") == "$1\nv", f"the key is gone\n{second.log()}")
            second.stop()
        off = config | {"Cmd": ["--save", ""]}
        with Container(root, off, work, kept=volume_of(work, "volume", uid)) as without:
            without.wait_healthy(health)
            without.ask("SET k v")
            expect(without.stop() == 0, without.log())
            expect(not os.listdir(folder), f'save "" saves: {os.listdir(folder)}')
            expect("dropping 1 keys: nothing was saved" in without.log(), without.log())
        with Container(root, config, work, kept=volume_of(work, "volume", 0)) as of_root:
            of_root.wait_healthy(health)
            expect(f"the user {uid} of this process cannot write into /data/" in of_root.log(), of_root.log())
            expect(of_root.ask("SET k v", "GET k") == "+OK\n$1\nv", "it does not serve")
        say("keys survive a new container with the same volume")
    finally:
        store("rm", container)


def run(tally, root):
    print("Container image", flush=True)
    script = os.path.join(root, "scripts", "install-packages")
    if subprocess.run([script, "image"], stdin=subprocess.DEVNULL).returncode != 0:
        tally.step("packages for the image", 0, 1, 0.0)
        return
    compose = os.path.join(root, "conf", "compose.yaml")
    tally.run("conf/compose.yaml", ["docker-compose", "-f", compose, "config", "--quiet"])
    if os.geteuid() != 0:
        tally.step("the image", 0, 1, 0.0, "namespaces, chroot and debootstrap need root")
        return
    work = os.path.join(root, "build", "image")
    os.makedirs(work, exist_ok=True)
    store = Store(work)
    notes = []
    steps = (
        ("the base image", lambda: import_base(store, work)),
        ("the Dockerfile builds", lambda: build_image(store, root)),
        ("the container runs, is healthy, ends", lambda: run_image(root, store, work, notes.append)),
        ("the next container has the keys", lambda: restart_image(store, work, notes.append)),
    )
    for name, step in steps:
        started, trouble = time.monotonic(), ""
        try:
            step()
        except Failed as problem:
            trouble = str(problem)
        except Exception:
            trouble = traceback.format_exc()
        tally.step(name, int(not trouble), int(bool(trouble)), time.monotonic() - started, trouble)
        if trouble:
            return
    for note in notes:
        print(f"  {note}", flush=True)
