"""Real clients: each runs the same steps against Mayfly and against redis-server, and must see the same.

This file lists the client libraries and tools; frameworks.py lists the frameworks. transcripts.py runs a driver and
compares what it reports.
"""

import concurrent.futures
import os
import shutil
import subprocess

import frameworks
import programs
import transcripts
from transcripts import PASSWORD, ROOT, Driver

from servers import Spec

STEPS = (
    "connects with name and password",
    "meets a wrong password",
    "runs a pool of 50",
    "sets with a TTL",
    "MGET",
    "SCAN",
    "pipeline",
    "binary values",
    "types of replies",
    "floats and ranges",
    "meets an error",
    "meets a wrong type",
    "meets an expiry",
    "reconnects after a restart",
)
CLI_STEPS = (
    "commands",
    "a session",
    "-3",
    "a wrong password",
    "--pipe",
    "--scan",
    "--bigkeys",
    "--memkeys",
    "--latency",
    "--stat",
    "MONITOR",
    "SUBSCRIBE",
    "PSUBSCRIBE",
    "--eval",
    "--rdb",
    "redis-benchmark",
    "redis-benchmark, every test",
    "reconnects after a restart",
)
LIBRARIES = (
    Driver("redis-cli and redis-benchmark", "python3", "redis_cli.py", CLI_STEPS, restarts=1),
    Driver("python3-redis", "/usr/bin/python3", "redis_py.py", STEPS, restarts=1),
    Driver("ruby-redis", "ruby", "redis_rb.rb", STEPS, restarts=1),
    Driver("php-redis", "php", "phpredis.php", STEPS, restarts=1),
    Driver("ioredis", "node", "node/ioredis.js", STEPS, restarts=1),
    Driver("redis (node), RESP3", "node", "node/redis.js", STEPS, restarts=1),
    Driver("python3-redis over TLS", "/usr/bin/python3", "redis_py.py", STEPS, restarts=1, tls=True),
    Driver("ioredis over TLS", "node", "node/ioredis.js", STEPS, restarts=1, tls=True),
)
GROUP_STEPS = (
    "makes groups",
    "delivers",
    "tells what is pending",
    "acknowledges",
    "claims",
    "tells about groups",
    "waits for entries",
    "is told that the group has gone",
)
GROUPS = (
    Driver("consumer groups by python3-redis", "/usr/bin/python3", "groups.py", GROUP_STEPS),
    Driver("consumer groups by ioredis", "node", "node/ioredis_groups.js", GROUP_STEPS),
    Driver("consumer groups by redis (node)", "node", "node/redis_groups.js", GROUP_STEPS),
)
# What only Mayfly has, by the examples of scripts/examples.
TAKE_STEPS = ("one of 50 computes", "an error reaches all who wait", "one of 50 computes with 5 connections")
MORE_TAKE_STEPS = ("an interrupted caller gives its lease back", "who waits inherits from a client that left", "a token is void after DEL")
TASK_STEPS = (
    "no task is lost when workers in Python are killed",
    "a worker in Python gets a task as it was set last",
    "no task is lost when workers in Node are killed",
    "a worker in Node gets a task as it was set last",
)
MORE_STEPS = (
    "cache-aside with bytes and with texts",
    "sessions begin, go on and end",
    "a limit holds for its window",
)
EXAMPLES = (
    Driver("TAKE by python3-redis", "/usr/bin/python3", "take.py", TAKE_STEPS + MORE_TAKE_STEPS, alone=True),
    Driver("TAKE by redis (node)", "node", "node/take.js", TAKE_STEPS, alone=True),
    Driver("tasks by python3-redis and redis (node)", "/usr/bin/python3", "delayed_tasks.py", TASK_STEPS, alone=True),
    Driver("examples by python3-redis", "/usr/bin/python3", "more_examples.py", MORE_STEPS, alone=True),
    Driver("TAKE by php-redis", "php", "cache_aside.php", ("one call computes", "an error gives the lease back"), alone=True),
    Driver(
        "client-side caching by redis (node)",
        "node",
        "node/client_cache.js",
        ("reads are answered by the client", "a change is seen"),
        alone=True,
    ),
)
# Clients of a cluster: it has two nodes, which --shards starts on the port and the next one.
NODE_STEPS = ("finds all nodes by one of them", "spreads keys over the nodes", "uses several keys")
SHARDS = {"alone": True, "options": "--shards 2"}
CLUSTER_CLIENTS = (
    Driver(
        "RedisCluster of python3-redis",
        "/usr/bin/python3",
        "cluster.py",
        (
            *NODE_STEPS,
            "sends pipelines to all nodes",
            "runs scripts where their keys are",
            "is redirected by the wrong node",
            "wakes a client that waits",
        ),
        **SHARDS,
    ),
    Driver(
        "Cluster of ioredis",
        "node",
        "node/ioredis_cluster.js",
        (*NODE_STEPS, "sends pipelines", "runs a transaction", "runs scripts where their keys are"),
        **SHARDS,
    ),
    Driver(
        "createCluster of redis (node)",
        "node",
        "node/redis_cluster.js",
        (*NODE_STEPS, "runs a transaction", "runs scripts where their keys are", "hears a shard channel"),
        **SHARDS,
    ),
    Driver(
        "redis-cli and redis-benchmark, in a cluster",
        "python3",
        "cluster_cli.py",
        (
            "redis-cli -c",
            "redis-cli without -c",
            "redis-cli --cluster check",
            "redis-cli --cluster call",
            "redis-benchmark --cluster",
        ),
        **SHARDS,
    ),
)
# Clients that ask three sentinels for the master: it is killed while they write, and comes back.
SENTINEL_STEPS = (
    "finds the master and a replica by the sentinels",
    "reads at a replica what the master has got",
    "goes on at another server when the master is killed",
    "finds there what WAIT has confirmed",
    "has the old master as a replica",
)
WATCHED = {"restarts": 1, "sentinels": True}
SENTINEL_CLIENTS = (
    Driver("Sentinel of python3-redis", "/usr/bin/python3", "sentinel.py", SENTINEL_STEPS, **WATCHED),
    Driver("Sentinel of redis-rb", "ruby", "sentinel.rb", SENTINEL_STEPS, **WATCHED),
    Driver("Sentinel of ioredis", "node", "node/ioredis_sentinel.js", SENTINEL_STEPS, **WATCHED),
    Driver("createSentinel of redis (node)", "node", "node/redis_sentinel.js", SENTINEL_STEPS, **WATCHED),
)
DRIVERS = (*LIBRARIES, *GROUPS, *frameworks.DRIVERS, *EXAMPLES, *CLUSTER_CLIENTS, *SENTINEL_CLIENTS)


def chosen(words):
    """The drivers whose names contain one of the words; all drivers if there are no words.

    Raises ValueError for a word that is in no name.
    """
    for word in words:
        if not any(word.lower() in driver.name.lower() for driver in DRIVERS):
            raise ValueError(f"no client is named {word}; there are: {'; '.join(driver.name for driver in DRIVERS)}")
    return [d for d in DRIVERS if not words or any(word.lower() in d.name.lower() for word in words)]


def install(work):
    """Installs the Debian packages, and unpacks what npm's lock file names under `work`. False if that fails."""
    script = os.path.join(ROOT, "scripts", "install-packages")
    lists = [["clients"]] if shutil.which("npm") else [["clients"], ["npm"]]
    if any(subprocess.run([script, *names], stdin=subprocess.DEVNULL).returncode != 0 for names in lists):
        return False
    folder, source = os.path.join(work, "node"), os.path.join(ROOT, "tests", "clients", "node")
    stamp = os.path.join(folder, "installed.json")
    with open(os.path.join(source, "package-lock.json"), encoding="utf-8") as file:
        lock = file.read()
    if os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == lock:
                return True
    os.makedirs(folder, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(source, name), folder)
    npm = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(npm, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stdout[-2000:] + done.stderr[-2000:], flush=True)
        return False
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(lock)
    return True


def run(tally, daemon, jobs, words=()):
    """Runs the drivers that `words` choose (see chosen), `jobs` at a time."""
    print("Clients, each against Mayfly and redis-server", flush=True)
    drivers = chosen(words)
    work = os.path.join(ROOT, "build", "clients")
    if not install(work):
        tally.step("packages of the clients", 0, 1, 0.0)
        return
    env = programs.environment(ROOT)
    env["NODE_PATH"] = os.path.join(work, "node", "node_modules")
    env["LC_ALL"] = "C.UTF-8"
    limits = f"--port {{port}} --bind 127.0.0.1 --requirepass {PASSWORD}"
    redis = shutil.which("redis-server", path=env["PATH"]) or "redis-server"
    specs = (Spec("Mayfly", f"{daemon} {limits}"), Spec("redis-server", f"{redis} {limits} --save ''"))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(transcripts.run_driver, tally, driver, specs, env, work) for driver in drivers]:
            done.result()
    for driver in drivers:
        for step, why in driver.waiting.items():
            print(f"  not compared: {driver.name}: {step}: {why}", flush=True)


def selftest():
    transcripts.selftest()
    folders = [driver.folder for driver in DRIVERS]
    assert len(set(folders)) == len(folders), folders
    assert chosen([]) == list(DRIVERS) and [driver.name for driver in chosen(["RUBY-REDIS"])] == ["ruby-redis"]
    try:
        chosen(["no such client"])
    except ValueError:
        return
    raise AssertionError("an unknown name chose something")
