"""The software of others that the suites run: what is run of each, and the versions.

A suite that has passed as a whole writes the versions into tests/versions.tsv. docs/works-with.md is made from that file and from the
table here: by scripts/works_with, and scripts/check works_with compares.
"""

import gzip
import json
import os
import platform
import re
import subprocess
from dataclasses import dataclass

VERSIONS = "tests/versions.tsv"
HEAD = (
    "# Other software that the suites install and run: package, version, source. scripts/test, scripts/test --clients, --sharding and\n"
    "# --metrics write here what they have run, if all of it has passed.\n"
)
NPM = "npm"


@dataclass(frozen=True)
class Software:
    """`packages`: the first is the software itself, the others run with it. `runs`: the name of a driver (suite clients), of a check
    (sharding), of a step (metrics) or the path of a test (tests) -> what it runs, in words. `note`: what needs a setting, or differs."""

    name: str
    suite: str
    source: str  # deb: installed, npm: of tests/clients/node, or else a list of scripts/packages that is unpacked
    packages: tuple
    runs: dict
    note: str = ""


SERVERS_RUN = {
    "tests/integration/replica_test.cc": "as master",
    "tests/integration/master_test.cc": "as replica",
    "tests/integration/move_test.cc": "moves",
    "tests/commands/snapshots/snapshot_peers_test.cc": "files",
    "tests/commands/keys/dump_oracle_test.cc": "payloads",
}
SENTINEL_NEEDS = "[conf/sentinel](../conf/sentinel/sentinel.conf), and [the right](failover.md#set-up-three-sentinels) to write the conf file"
KINDS = {
    "libraries": (
        Software(
            "redis-py",
            "clients",
            "deb",
            ("python3-redis",),
            {
                "python3-redis": "commands",
                "python3-redis over TLS": "TLS",
                "consumer groups by python3-redis": "consumer groups",
                "RedisCluster of python3-redis": "cluster",
                "Sentinel of python3-redis": "Sentinel",
                "TAKE by python3-redis": "`TAKE`",
                "tasks by python3-redis and redis (node)": "delayed tasks",
                "examples by python3-redis": "sessions, rate limits",
            },
            "`RedisCluster` needs [slots](cluster.md)",
        ),
        Software(
            "ioredis",
            "clients",
            NPM,
            ("ioredis",),
            {
                "ioredis": "commands",
                "ioredis over TLS": "TLS",
                "consumer groups by ioredis": "consumer groups",
                "Cluster of ioredis": "cluster",
                "Sentinel of ioredis": "Sentinel",
            },
            "`keyPrefix` [does not reach](clients.md#key-prefixes) the keys of Mayfly's own commands",
        ),
        Software(
            "node-redis",
            "clients",
            NPM,
            ("redis",),
            {
                "redis (node), RESP3": "commands",
                "consumer groups by redis (node)": "consumer groups",
                "createCluster of redis (node)": "cluster",
                "createSentinel of redis (node)": "Sentinel",
                "TAKE by redis (node)": "`TAKE`",
                "tasks by python3-redis and redis (node)": "delayed tasks",
                "client-side caching by redis (node)": "client-side caching",
            },
            "`set()` [drops](clients.md#typed-calls-drop-new-options) `TAGS` and `STALE`",
        ),
        Software(
            "redis-rb",
            "clients",
            "deb",
            ("ruby-redis",),
            {"ruby-redis": "commands", "Sentinel of redis-rb": "Sentinel"},
            "after a [read timeout](clients.md#timeouts) the library sends a command a second time",
        ),
        Software(
            "phpredis",
            "clients",
            "deb",
            ("php-redis",),
            {"php-redis": "commands", "TAKE by php-redis": "`TAKE`"},
            "`set()` [drops](clients.md#typed-calls-drop-new-options) `TAGS` and `STALE`; `rawCommand` has neither prefix nor serializer",
        ),
    ),
    "frameworks": (
        Software("BullMQ", "clients", NPM, ("bullmq",), {"BullMQ": "queues, with workers"}, "[warns](sessions-and-jobs.md#run-jobs) of the eviction policy"),
        Software("cache-manager", "clients", NPM, ("cache-manager",), {"cache-manager": "a cache in two tiers"}),
        Software("Celery", "clients", "deb", ("python3-celery",), {"Celery": "queues and results, with workers"}),
        Software("connect-redis", "clients", NPM, ("connect-redis", "express", "express-session"), {"connect-redis, Express": "sessions"}),
        Software("keyv", "clients", NPM, ("keyv", "@keyv/redis"), {"keyv": "a cache with namespaces"}),
        Software("node-resque", "clients", NPM, ("node-resque",), {"node-resque": "queues, with workers"}),
        Software("rate-limit-redis", "clients", NPM, ("rate-limit-redis", "express", "express-rate-limit"), {"rate-limit-redis, Express": "rate limits"}),
        Software("rate-limiter-flexible", "clients", NPM, ("rate-limiter-flexible",), {"rate-limiter-flexible": "rate limits"}),
        Software("redlock", "clients", NPM, ("redlock",), {"redlock": "locks"}),
        Software("RQ", "clients", "deb", ("python3-rq",), {"RQ": "queues, with workers"}),
        Software("Sidekiq", "clients", "deb", ("ruby-sidekiq", "ruby-connection-pool"), {"Sidekiq": "queues, with workers"}),
        Software("socket.io", "clients", NPM, ("socket.io", "@socket.io/redis-adapter"), {"socket.io, its Redis adapter": "messages between servers"}),
    ),
    "tools": (
        Software(
            "redis-cli, redis-benchmark",
            "clients",
            "redis7",
            ("redis-tools",),
            {"redis-cli and redis-benchmark": "commands and modes", "redis-cli and redis-benchmark, in a cluster": "cluster"},
        ),
        Software(
            "Sentinel of Redis",
            "sharding",
            "redis7",
            ("redis-tools",),
            {"Sentinel of python3-redis": "a killed master, with clients", "behind haproxy, with sentinels": "behind HAProxy"},
            SENTINEL_NEEDS,
        ),
        Software(
            "Sentinel of Valkey",
            "sharding",
            "valkey",
            ("valkey-tools",),
            {"in place of pods, with sentinels": "the scripts of `conf/kubernetes/failover.yaml`"},
            SENTINEL_NEEDS,
        ),
        Software(
            "HAProxy",
            "sharding",
            "deb",
            ("haproxy",),
            {"behind haproxy": "two caches", "behind haproxy, with sentinels": "master and replicas"},
            "[conf/haproxy](../conf/haproxy)",
        ),
        Software("nutcracker (twemproxy)", "sharding", "deb", ("nutcracker",), {"behind nutcracker": "three caches"}, "[conf/twemproxy](../conf/twemproxy)"),
        Software(
            "Prometheus, promtool",
            "metrics",
            "prometheus",
            ("prometheus",),
            {
                "promtool check metrics": "the form of `/metrics`",
                "conf/prometheus: rules and their test": "rules",
                "Prometheus answers rules and dashboard": "every expression of alerts and dashboard",
            },
            "[`metrics-port`](options.md#metrics-port), [conf/prometheus](../conf/prometheus)",
        ),
        Software(
            "prometheus-redis-exporter",
            "metrics",
            "prometheus",
            ("prometheus-redis-exporter",),
            {"prometheus-redis-exporter says what INFO says": "the figures of `INFO`"},
            "knows no figure that Mayfly alone has",
        ),
    ),
    "servers": (
        Software("Redis 7", "tests", "redis7", ("redis-tools",), SERVERS_RUN),
        Software("Redis 8", "tests", "redis8", ("redis-tools",), SERVERS_RUN, "vector sets are [missing](coming-from-redis.md#missing-features)"),
        Software("Valkey", "tests", "valkey", ("valkey-tools",), SERVERS_RUN),
    ),
}
ALL = tuple(one for kind in KINDS.values() for one in kind)

# Where a list that is unpacked comes from, whatever the machine runs: see peers.py. The list prometheus comes from the machine's own
# sources.
_RELEASES = {"redis7": "Debian 12", "redis8": "Debian 13", "valkey": "Debian 12 backports"}


def release(source):
    """The fixed release that an unpacked list comes from; None for others."""
    return _RELEASES.get(source)


def upstream(version):
    """A Debian package's version without Debian's parts: 5:7.0.15-1~deb12u7 is 7.0.15."""
    return re.sub(r"[+~].*", "", version.split(":")[-1].rpartition("-")[0] or version.split(":")[-1])


def _system():
    """The machine's own: Debian 12."""
    release = platform.freedesktop_os_release()
    return f"{release['NAME'].split()[0]} {release['VERSION_ID']}"


def _unpacked(folder, package):
    """The version of a package that scripts/unpack-packages has unpacked into `folder`, by its changelog."""
    with gzip.open(os.path.join(folder, "usr", "share", "doc", package, "changelog.Debian.gz"), "rt", encoding="utf-8") as file:
        return upstream(re.match(r"\S+ \((\S+)\)", file.readline())[1])


def _version(root, source, package):
    """(version, where it comes from) of what is installed or unpacked now."""
    if source == NPM:
        path = os.path.join(root, "build", "clients", "node", "node_modules", package, "package.json")
        with open(path, encoding="utf-8") as file:
            return json.load(file)["version"], NPM
    if source == "deb":
        asked = ["dpkg-query", "-W", "-f", "${Version}", package]
        return upstream(subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=True).stdout), _system()
    if source in _RELEASES:
        return _unpacked(os.path.join(root, "build", "test-tools", "unpacked", source), package), _RELEASES[source]
    return _unpacked(os.path.join(root, "build", source), package), _system()


def read(text):
    """{(package, where it comes from): version} of the file's text."""
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return {(package, source): version for package, version, source in rows}


def written(versions):
    return HEAD + "".join(f"{package}\t{version}\t{source}\n" for (package, source), version in sorted(versions.items()))


def record(root, suite):
    """Keeps the versions of what a suite has run, which has just passed. Those of other systems stay."""
    path = os.path.join(root, VERSIONS)
    with open(path, encoding="utf-8") as file:
        before = file.read()
    versions = read(before)
    for one in ALL:
        if one.suite == suite:
            for package in one.packages:
                try:
                    version, source = _version(root, one.source, package)
                except FileNotFoundError:
                    continue  # a server that this machine could not unpack: nothing was compared with it
                versions[package, source] = version
    if written(versions) != before:
        with open(path, "w", encoding="utf-8") as file:
            file.write(written(versions))
        print(f"{VERSIONS} has other versions now; scripts/works_with makes the page from it", flush=True)


def selftest():
    for version, wanted in (("5:7.0.15-1~deb12u7", "7.0.15"), ("5.3.7+4.3.0-3", "5.3.7"), ("0.5.0+dfsg-2", "0.5.0"), ("4.8.0", "4.8.0"), ("1.45.0-2+b4", "1.45.0")):
        assert upstream(version) == wanted, upstream(version)
    versions = {("b", "npm"): "1", ("a", "Debian 12"): "2", ("a", "Debian 13"): "3"}
    assert read(written(versions)) == versions and written(versions).startswith(HEAD + "a\t2\tDebian 12\n"), written(versions)
