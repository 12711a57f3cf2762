"""The apt repository of scripts/repository, read by an apt with folders of its own, and by one that finds it changed."""

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
from contextlib import contextmanager

from debian import expect, own_release, said

KEY = "Mayfly test <mayfly@mayfly.invalid>"


@contextmanager
def signing(folder):
    """An environment with a key of its own in `folder`, for a test."""
    home = os.path.join(folder, "gnupg")
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(home, mode=0o700)
    before = {name: os.environ.get(name) for name in ("GNUPGHOME", "MAYFLY_SIGNING_KEY")}
    os.environ |= {"GNUPGHOME": home, "MAYFLY_SIGNING_KEY": KEY}
    try:
        said("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", KEY, "ed25519", "sign", "never")
        yield
    finally:
        subprocess.run(["gpgconf", "--kill", "all"], stdin=subprocess.DEVNULL)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def served(folder):
    """(port, requested paths) of a web server that shows `folder`."""
    paths = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            paths.append(self.path)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1], paths
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def apt(work, key, port, *words):
    """(exit code, what it said) of an apt that knows this repository alone."""
    for name in ("lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(work, name), exist_ok=True)
    sources = os.path.join(work, "sources.list")
    with open(sources, "w", encoding="utf-8") as file:
        file.write(f"deb [signed-by={key}] http://127.0.0.1:{port}/ {own_release()[1]} main\n")
    options = {
        "Dir::State::Lists": "lists", "Dir::Cache": "cache", "Dir::Etc::SourceList": "sources.list",
    }
    options = [f"-o{name}={os.path.join(work, path)}" for name, path in options.items()]
    options += ["-oDir::Etc::SourceParts=/dev/null", "-oAPT::Sandbox::User=root", "-oAcquire::http::Proxy=DIRECT", "-oAcquire::Retries=0"]
    done = subprocess.run(
        ["apt-get", "-q", "-y", *options, *words], cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return done.returncode, done.stdout


def _indices(repository):
    dists = os.path.join(repository, "dists", own_release()[1], "main")
    return [os.path.join(folder, name) for folder, _, names in os.walk(dists) for name in names if name.startswith("Packages")]


def check_repository(root, work, deb):
    """Makes the repository and reads it; a second call with the same package changes nothing that apt sees; what was changed by somebody
    who has not the key is refused. Returns the repository's folder."""
    repository, state = os.path.join(work, "repository"), os.path.join(work, "apt")
    for folder in (repository, state):
        shutil.rmtree(folder, ignore_errors=True)
    script = os.path.join(root, "scripts", "repository")
    for _ in range(2):
        said(script, repository, deb)
    key = os.path.join(repository, "mayfly.gpg")
    with served(repository) as (port, paths):
        code, text = apt(state, key, port, "update", "--error-on=any")
        expect(code == 0, text)
        asked = [path for path in paths if "/binary-" in path]
        expect(asked and all("/by-hash/SHA256/" in path for path in asked), f"apt did not ask by hash: {paths}")
        code, text = apt(state, key, port, "download", "mayfly")
        expect(code == 0, text)
        downloaded = os.path.join(state, os.path.basename(deb))
        with open(downloaded, "rb") as one, open(deb, "rb") as other:
            expect(one.read() == other.read(), "apt downloads another package")
    changed = os.path.join(work, "changed")
    shutil.rmtree(changed, ignore_errors=True)
    shutil.copytree(repository, changed)
    for path in _indices(changed):
        with open(path, "ab") as file:
            file.write(b"\n")
    for folder, _, names in os.walk(changed):
        for name in names if folder.endswith("/by-hash/SHA256") else []:
            with open(os.path.join(folder, name), "ab") as file:
                file.write(b"\n")
    shutil.rmtree(state)
    with served(changed) as (port, _):
        code, text = apt(state, key, port, "update", "--error-on=any")
        expect(code != 0 and "Hash Sum mismatch" in text or "unexpected size" in text, f"apt takes changed indices\n{text}")
    return repository


def check_sbom(deb):
    """Every library that the package depends on is in the SBOM, as linked, and so is what is compiled in."""
    with open(deb.removesuffix(".deb") + ".spdx.json", encoding="utf-8") as file:
        sbom = json.load(file)
    fields = dict(re.findall(r"^([\w-]+): (.*)$", said("dpkg-deb", "--field", deb), re.M))
    packages = {package["SPDXID"]: package for package in sbom["packages"]}
    relations = sbom["relationships"]
    own = packages[next(one["relatedSpdxElement"] for one in relations if one["relationshipType"] == "DESCRIBES")]
    expect(own["versionInfo"] == fields["Version"], f"the SBOM is of {own['versionInfo']}")
    expect(own["checksums"][0]["checksumValue"] == said("sha256sum", deb).split()[0], "the SBOM has another checksum")
    linked = {packages[one["relatedSpdxElement"]]["name"] for one in relations if one["relationshipType"] == "DYNAMIC_LINK"}
    needed = {word.split()[0] for word in fields["Depends"].split(", ")} - {"adduser"}
    expect(linked == needed and len(linked) >= 8, f"the SBOM has {sorted(linked)}, the package needs {sorted(needed)}")
    for kind in ("STATIC_LINK", "BUILD_TOOL_OF"):
        expect(any(one["relationshipType"] == kind for one in relations), f"the SBOM has no {kind}")
    for one in relations:
        expect({one["spdxElementId"], one["relatedSpdxElement"]} <= {*packages, "SPDXRef-DOCUMENT"}, f"a relationship leads nowhere: {one}")
    for package in packages.values():
        expect(package["versionInfo"] and re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", package["SPDXID"]), f"{package}")
    return f"SBOM: {len(packages)} packages"
