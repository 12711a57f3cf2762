"""docs/works-with.md is what scripts/works_with makes of the table in scripts/suite/software.py, the versions that the suites have
written into tests/versions.tsv, and the names of the tests in tests/commands/clients/handshake_test.cc."""

import json
import os
import re
import sys

# Behind the checks; and what the suites add to the path is taken off again, since checks have names of modules there.
_PATH = list(sys.path)
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "suite"))

import clients
import sharding
import software

sys.path[:] = _PATH

PAGE, LOCK, HANDSHAKES = "docs/works-with.md", "tests/clients/node/package-lock.json", "tests/commands/clients/handshake_test.cc"
METRICS, LISTS = "scripts/suite/metrics.py", "scripts/packages/{}"
STEPS = {driver.name: len(driver.steps) for driver in clients.DRIVERS}
_HANDSHAKE = re.compile(r'TEST_CASE_METHOD\(\w+,\s*"([^"]+)"')
HEADS = {"libraries": "library", "frameworks": "framework", "tools": "program", "servers": "server"}


def _labels(one, versions):
    """[(package, where it comes from, version)] of what ran."""
    releases = [software.release(one.source)] if software.release(one.source) else None
    return [(p, s, v) for p in one.packages for (name, s), v in sorted(versions.items()) if name == p and (s in releases if releases else _fits(one, s))]


def _fits(one, source):
    return (source == software.NPM) == (one.source == software.NPM)


def _version_cell(one, versions):
    rows = _labels(one, versions)
    shown = [f"{'' if p == one.packages[0] else p + ' '}{v}" + (f" ({s})" if s != software.NPM else "") for p, s, v in rows]
    return ", ".join(shown)


def _runs_cell(one):
    return ", ".join(words + (f" ({STEPS[name]})" if name in STEPS else "") for name, words in one.runs.items())


def table(kind, versions):
    rows = [f"| {one.name} | {_version_cell(one, versions)} | {_runs_cell(one)} | {one.note} |\n" for one in software.KINDS[kind]]
    return f"\n| {HEADS[kind]} | version | what runs | needs, differs |\n|---|---|---|---|\n{''.join(rows)}\n"


def sentences(source):
    """The tests of first requests, as a list. A name that begins with an article is of no software."""
    names = [name for name in _HANDSHAKE.findall(source) if not name.startswith("a ")]
    return "\n" + "".join(f"- {name}\n" for name in names) + "\n"


def made(files):
    """{what: text} of the page's parts."""
    versions = software.read(files[software.VERSIONS])
    return {kind: table(kind, versions) for kind in software.KINDS} | {"first requests": sentences(files[HANDSHAKES])}


def page_with(page, parts):
    """The page with each part between its two lines; None if some are missing."""
    for what, text in parts.items():
        begin, end = f"<!-- {what}: made by scripts/works_with -->\n", f"<!-- end of {what} -->\n"
        first, last = page.find(begin), page.find(end)
        if first < 0 or last < first:
            return None
        page = page[: first + len(begin)] + text + page[last:]
    return page


def _wrong_runs(files):
    """Drivers and checks that no software names, and names that no suite runs."""
    named = {name for one in software.ALL for name in one.runs}
    for name in [*STEPS, *sharding.CHECKS]:
        if name not in named:
            yield f"scripts/suite/software.py: nothing says what {name} runs"
    there = {*STEPS, *sharding.CHECKS}
    for name in sorted(named - there):
        if name not in files and f'"{name}"' not in files[METRICS]:
            yield f"scripts/suite/software.py: no suite runs {name}"
    for driver in clients.DRIVERS:
        if driver.waiting:
            yield f"{PAGE}: says that all steps are compared; {driver.name} leaves out {', '.join(driver.waiting)}"


def _wrong_versions(files, versions):
    """Software without a version, versions of nothing, and versions that are not those of the lock file."""
    wanted = {key[:2]: one for one in software.ALL for key in _labels(one, versions)}
    for one in software.ALL:
        for package in one.packages:
            if not any(name == package for name, _ in wanted):
                yield f"{software.VERSIONS}: no version of {package}"
            if one.source not in ("deb", software.NPM) and package not in files[LISTS.format(one.source)].split():
                yield f"scripts/suite/software.py: scripts/packages/{one.source} has no {package}"
    lock = json.loads(files[LOCK])["packages"]
    for (package, source), version in versions.items():
        if (package, source) not in wanted:
            yield f"{software.VERSIONS}: nothing runs {package} of {source}"
        elif source == software.NPM and lock[f"node_modules/{package}"]["version"] != version:
            yield f"{software.VERSIONS}: {package} is {lock[f'node_modules/{package}']['version']} in {LOCK}; run scripts/test --clients"


def find(files):
    needed = (PAGE, LOCK, HANDSHAKES, METRICS, software.VERSIONS)
    missing = [f"{path}: missing" for path in needed if path not in files]
    if missing:
        return missing
    wrong = [*_wrong_runs(files), *_wrong_versions(files, software.read(files[software.VERSIONS]))]
    page = page_with(files[PAGE], made(files))
    if page is None:
        return [*wrong, f"{PAGE}: lines around a part are missing"]
    return wrong if page == files[PAGE] else [*wrong, f"{PAGE}: older than what it is made of; run scripts/works_with"]


def selftest():
    software.selftest()
    versions, lock = {}, {}
    files = {LISTS.format(one.source): "" for one in software.ALL}
    for one in software.ALL:
        for package in one.packages:
            versions[package, software.release(one.source) or (software.NPM if one.source == software.NPM else "Debian 12")] = "1.2"
            lock[f"node_modules/{package}"] = {"version": "1.2"}
            files[LISTS.format(one.source)] += f"{package}  # why\n"
    names = {name for one in software.ALL for name in one.runs}
    files |= {name: "" for name in names if name.endswith(".cc")}
    files |= {
        LOCK: json.dumps({"packages": lock}),
        HANDSHAKES: 'TEST_CASE_METHOD(FirstLoginTest, "Lettuce connects") {\nTEST_CASE_METHOD(X,\n    "a login fails") {\n',
        METRICS: " ".join(f'"{name}"' for name in names),
        software.VERSIONS: software.written(versions),
    }
    empty = "".join(f"<!-- {what}: made by scripts/works_with -->\n<!-- end of {what} -->\n" for what in made(files))
    files[PAGE] = page_with(empty, made(files))
    assert find(files) == [], find(files)
    assert "\n- Lettuce connects\n\n" in files[PAGE] and "fails" not in files[PAGE]
    assert f"| redis-py | 1.2 (Debian 12) | commands ({STEPS['python3-redis']}), " in files[PAGE], files[PAGE]

    def bad(path, text, *complaints):
        said = find(files | {path: text})
        assert len(said) == len(complaints) and all(words in line for words, line in zip(complaints, said)), said

    old = f"{PAGE}: older"
    bad(PAGE, files[PAGE].replace("1.2", "1.3", 1), old)
    bad(PAGE, "no lines", "lines around")
    bad(METRICS, "", *["no suite runs"] * sum(name not in STEPS | sharding.CHECKS and name not in files for name in names))
    other = versions | {("python3-redis", "Debian 13"): "2"}
    bad(software.VERSIONS, software.written(other), old)
    bad(software.VERSIONS, software.written(versions | {("gone", "npm"): "2"}), "nothing runs gone")
    bad(software.VERSIONS, software.written(versions | {("bullmq", "npm"): "2"}), "run scripts/test --clients", old)
    bad(software.VERSIONS, software.written({k: v for k, v in versions.items() if k[0] != "haproxy"}), "no version of haproxy", old)
    assert find({})
