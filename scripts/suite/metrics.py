"""The metrics port as Prometheus and its friends see it.

promtool checks the page, the rules and their test. A Prometheus scrapes a Mayfly under a little load, its replica, and a
replica without a master, and answers every expression of conf/prometheus and conf/grafana. prometheus-redis-exporter says of
Mayfly what INFO says. INFO has what the redis receiver of the OpenTelemetry collector reads; the collector itself is not run.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from contextlib import contextmanager
from http.client import HTTPConnection

import yaml

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "tests", "bench", "runner"))

import certificates
import metered
from metered import Client, Mayfly, checked, eventually, http, process, require
from servers import free_port

# Rules of which it is right that they are empty: nothing is wrong with the Mayflys that are scraped. Their metrics must
# exist all the same.
_NAME = re.compile(r"\bmayfly_[a-z0-9_]+")
_ALERT_NAMES_ONLY = "alerts are empty, their metrics are there"


def promtool(unpacked, *words, text=None):
    done = subprocess.run(
        [os.path.join(unpacked, "usr", "bin", "promtool"), *words],
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        stdin=subprocess.DEVNULL if text is None else None,
    )
    return done.returncode, done.stdout


def page_passes(unpacked, port):
    page = http(port, "/metrics")
    code, said = promtool(unpacked, "check", "metrics", text=page)
    require(code == 0 and not said.strip(), said)
    return f"{len(page)} bytes, {sum(1 for line in page.splitlines() if line[:1] != '#')} samples"


def conf_passes(root, unpacked):
    folder = os.path.join(root, "conf", "prometheus")
    for words in (("check", "rules", "mayfly.rules.yml"), ("check", "config", "prometheus.yml"), ("check", "config", "kubernetes.yml"), ("test", "rules", "mayfly.rules.test.yml")):
        code, said = promtool(unpacked, *words[:2], os.path.join(folder, words[2]))
        require(code == 0, said)


def collector(root):
    """The example for the OpenTelemetry collector, read."""
    with open(os.path.join(root, "conf", "opentelemetry", "collector.yaml"), encoding="utf-8") as file:
        return yaml.safe_load(file)


def collector_passes(root, unpacked, folder):
    """The receiver prometheus of the example has a configuration of Prometheus. The pipelines name parts that are there."""
    example = collector(root)
    config = os.path.join(folder, "receiver.yml")
    with open(config, "w", encoding="utf-8") as file:
        yaml.safe_dump(example["receivers"]["prometheus"]["config"], file)
    code, said = promtool(unpacked, "check", "config", config)
    require(code == 0, said)
    for pipeline in example["service"]["pipelines"].values():
        for kind, names in pipeline.items():
            require(names and set(names) <= set(example[kind]), f"{kind} of a pipeline: {names}")


def rules(root):
    """(name, expression, whether it is an alert) of each rule. The file's form is our own, so no YAML is needed."""
    with open(os.path.join(root, "conf", "prometheus", "mayfly.rules.yml"), encoding="utf-8") as file:
        text = file.read()
    found = re.findall(r"- (record|alert): (\S+)\n\s+expr:(?: >-\n((?:\s{10,}.*\n)+)| (.*)\n)", text)
    require(len(found) == text.count("expr:"), "a rule was not read")
    return [(name, " ".join((folded or line).split()), kind == "alert") for kind, name, folded, line in found]


def panels(root):
    """(title, expression, legend) of each target of the dashboard, with its variables filled in."""
    with open(os.path.join(root, "conf", "grafana", "mayfly.json"), encoding="utf-8") as file:
        dashboard = json.load(file)
    fill = {"$__rate_interval": "1m", "$job": ".*", "$instance": ".*"}
    for panel in dashboard["panels"]:
        if panel["type"] == "row":
            continue
        for target in panel["targets"]:
            expression = target["expr"]
            for variable, value in fill.items():
                expression = expression.replace(variable, value)
            require("$" not in expression, f"a variable is left in {expression}")
            yield panel["title"], expression, target["legendFormat"]


def names_exist(root, ports):
    """Every metric that conf/ names is in a page."""
    pages = "".join(http(port, "/metrics") for port in ports)
    there = set(re.findall(r"^# TYPE (\S+) ", pages, re.M))
    families = len(there)
    there |= {name + suffix for name in there for suffix in ("_bucket", "_sum", "_count")}
    named = set()
    for folder, _, files in os.walk(os.path.join(root, "conf")):
        for name in files:
            if not name.endswith((".yml", ".json")):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                # The names of recorded series have colons: instance:mayfly_hit_ratio:rate5m.
                named |= set(re.findall(r"(?<![:\w])mayfly_[a-z0-9_]+(?![:\w])", file.read()))
    require(len(named) > 20, "conf/ was not read")
    require(named <= there, f"not in /metrics: {sorted(named - there)}")
    return f"{len(named)} of {families} metrics are used by conf/"


class Prometheus:
    """Scrapes some ports once a second, with the rules of conf/."""

    def __init__(self, root, unpacked, folder, ports):
        self._root, self._folder, self.port = root, folder, free_port()
        with open(os.path.join(root, "conf", "prometheus", "prometheus.yml"), encoding="utf-8") as file:
            text = file.read()
        targets = ", ".join(f'"127.0.0.1:{port}"' for port in ports)
        text = text.replace("15s", "1s").replace('"127.0.0.1:9121"', targets)
        text = text.replace("mayfly.rules.yml", os.path.join(root, "conf", "prometheus", "mayfly.rules.yml"))
        require(targets in text, "conf/prometheus/prometheus.yml names another port")
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(text)
        self.words = [os.path.join(unpacked, "usr", "bin", "prometheus"), "--config.file", config]
        self.words += ["--storage.tsdb.path", os.path.join(folder, "data"), "--web.listen-address", f"127.0.0.1:{self.port}"]

    def ask(self, expression):
        query = urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/query?{query}", timeout=60) as answer:
            said = json.load(answer)
        require(said["status"] == "success", said)
        numbers = [sample for sample in said["data"]["result"] if sample["value"][1] != "NaN"]
        return numbers


def answered(prometheus, title, expression, legend):
    """An expression of the dashboard has numbers, and the labels that its legend shows."""
    samples = eventually(f"{title}: {expression}", lambda: prometheus.ask(expression))
    for label in re.findall(r"{{(\w+)}}", legend):
        require(all(label in sample["metric"] for sample in samples), f"{title}: {expression} has no label {label}")


def expressions_have_data(root, unpacked, folder, ports):
    """Every expression is answered with numbers; alerts are answered with nothing, but each of their metrics is there."""
    with_data = alerts = 0
    prometheus = Prometheus(root, unpacked, folder, ports)
    with process(prometheus.words, folder, "prometheus"):
        for port in ports:
            eventually("six scrapes", lambda p=port: prometheus.ask(f'count_over_time(mayfly_uptime_seconds{{instance="127.0.0.1:{p}"}}[1m]) >= 6'))
        for title, expression, legend in panels(root):
            answered(prometheus, title, expression, legend)
            with_data += 1
        for name, expression, is_alert in rules(root):
            if not is_alert:
                eventually(f"{name}: {expression}", lambda e=expression: prometheus.ask(e))
                eventually(name, lambda e=name: prometheus.ask(e))
                with_data += 2
                continue
            prometheus.ask(expression)  # it is understood
            for metric in set(_NAME.findall(re.sub(r"\S*:mayfly\S*", "", expression))):
                eventually(f"{name}: {metric}", lambda e=metric: prometheus.ask(e))
            alerts += 1
    return f"{with_data} expressions with data; {alerts} {_ALERT_NAMES_ONLY}"


@contextmanager
def replicated(daemon, *options):
    """A master under some load, which has saved and has handed over a task; its replica; and a replica without its master."""
    with Mayfly(daemon, *options) as master, metered.load(master.port):
        client = Client(master.port)
        client.pipeline([("SET", "mail", "to ann", "PX", 50, "INTO", "jobs"), ("BGSAVE",)])
        client.close()
        with Mayfly(daemon, "--replicaof", f"127.0.0.1 {master.port}") as replica, Mayfly(daemon, "--replicaof", f"127.0.0.1 {free_port()}") as alone:
            for what, server, line in (
                ("some load", master, r"mayfly_expired_keys_total [1-9]"),
                ("a save", master, r"mayfly_snapshots_total 1"),
                ("a task", master, r"mayfly_tasks_delivered_total 1"),
                ("a replica", master, r'mayfly_replica_confirmed_bytes{replica="0"} [1-9]'),
                ("the link", replica, r"mayfly_master_heard_seconds \d"),
                ("no link", alone, r"mayfly_master_link_down_seconds \d"),
            ):
                eventually(what, lambda s=server, l=line: re.search("^" + l, http(s.metrics_port, "/metrics"), re.M))
            yield master, replica, alone


# Series of the exporter, and the field of INFO that says the same; those that its own requests change lie between the
# values before and after.
_SAME = {
    "redis_keyspace_hits_total": "keyspace_hits",
    "redis_keyspace_misses_total": "keyspace_misses",
    "redis_expired_keys_total": "expired_keys",
    "redis_evicted_keys_total": "evicted_keys",
    "redis_blocked_clients": "blocked_clients",
    "redis_memory_max_bytes": "maxmemory",
    "redis_rejected_connections_total": "rejected_connections",
    "redis_config_maxclients": "maxclients",
    "redis_pubsub_channels": "pubsub_channels",
}
_BETWEEN = {
    "redis_commands_processed_total": "total_commands_processed",
    "redis_connections_received_total": "total_connections_received",
    "redis_net_input_bytes_total": "total_net_input_bytes",
    "redis_uptime_in_seconds": "uptime_in_seconds",
}


def exporter_agrees(unpacked, mayfly):
    port = free_port()
    program = os.path.join(unpacked, "usr", "bin", "prometheus-redis-exporter")
    words = [program, "-redis.addr", f"redis://127.0.0.1:{mayfly.port}", "-web.listen-address", f"127.0.0.1:{port}"]
    client = Client(mayfly.port)
    metered.some_work(client, 0)
    # Nothing expires while it is compared.
    client("FLUSHALL")
    client.pipeline([("SET", f"k{i}", "v") for i in range(50)] + [("SET", "t", "v", "EX", 1000), ("GET", "t"), ("GET", "no")])
    with process(words, mayfly.folder, "exporter"):
        before = client.info()
        page = eventually("the exporter", lambda: http(port, "/metrics"))
        after = client.info()
    client.close()
    values = dict(line.rsplit(" ", 1) for line in page.splitlines() if line[:1] != "#")

    def value(series):
        require(series in values, f"the exporter has no {series}")
        return float(values[series])

    require(value("redis_up") == 1, "redis_up is not 1")
    require(value("redis_exporter_last_scrape_error{err=\"\"}") == 0, "the exporter reports an error")
    for series, field in _SAME.items():
        require(value(series) == float(after[field]), f"{series} is {value(series)}, {field} is {after[field]}")
    for series, field in _BETWEEN.items():
        low, high = float(before[field]), float(after[field])
        require(low <= value(series) <= high, f"{series} is {value(series)}, {field} was {low} and is {high}")
    require(value('redis_db_keys{db="db0"}') == 51, "redis_db_keys")
    require(value('redis_db_keys_expiring{db="db0"}') == 1, "redis_db_keys_expiring")
    used = value("redis_memory_used_bytes")
    require(abs(used - float(after["used_memory"])) < 0.5 * float(after["used_memory"]), f"redis_memory_used_bytes is {used}")
    calls = dict(part.split("=") for part in after["cmdstat_set"].split(","))["calls"]
    require(value('redis_commands_total{cmd="set"}') == float(calls), "redis_commands_total of SET")
    errors = after["errorstat_ERR"].split("=")[1]
    require(value('redis_errors_total{err="ERR"}') <= float(errors), "redis_errors_total")
    require(f'redis_version="{after["redis_version"]}"' in page, "redis_instance_info has another version")
    return f"{len(values)} series"


# What the receiver redis reads of INFO all: as int64, and as float64. A field that is missing is a metric that is missing; a
# field that it cannot read is a warning in its log.
_RECEIVED_INTS = """
    blocked_clients client_recent_max_input_buffer client_recent_max_output_buffer cluster_enabled connected_clients
    connected_slaves evicted_keys expired_keys instantaneous_ops_per_sec keyspace_hits keyspace_misses latest_fork_usec
    master_repl_offset maxmemory rdb_changes_since_last_save rejected_connections repl_backlog_first_byte_offset
    total_commands_processed total_connections_received total_net_input_bytes total_net_output_bytes tracking_total_keys
    uptime_in_seconds used_memory used_memory_lua used_memory_overhead used_memory_peak used_memory_rss used_memory_startup
""".split()
_RECEIVED_OF_REPLICAS = ["slave_repl_offset"]
_RECEIVED_FLOATS = """
    mem_fragmentation_ratio used_cpu_sys used_cpu_sys_children used_cpu_sys_main_thread used_cpu_user used_cpu_user_children
    used_cpu_user_main_thread
""".split()


def _pairs(text):
    return dict(pair.split("=") for pair in text.split(","))


def _receive(client, role, integers):
    """Reads INFO as the receiver does: by RESP3, and a line with two colons is no field."""
    lines = [line.split(":") for line in client("INFO", "all").decode().split("\r\n") if line and line[0] != "#"]
    fields = dict(line for line in lines if len(line) == 2)
    for name in integers:
        require(re.fullmatch(r"-?\d+", fields.get(name, "")), f"{name} is {fields.get(name)}")
    for name in _RECEIVED_FLOATS:
        float(fields[name])
    require((fields["role"], fields["redis_mode"]) == (role, "standalone"), "role, redis_mode")
    members = _pairs(fields["db0"])
    require(all(int(members[name]) >= 0 for name in ("keys", "expires", "avg_ttl")), fields["db0"])
    calls = [_pairs(text) for name, text in fields.items() if name.startswith("cmdstat_")]
    require(calls and all(int(one["calls"]) >= 0 and int(one["usec"]) >= 0 for one in calls), calls)
    latencies = [_pairs(text) for name, text in fields.items() if name.startswith("latency_percentiles_usec_")]
    require(latencies and all(float(one[name]) >= 0 for one in latencies for name in ("p50", "p99", "p99.9")), latencies)


def receiver_reads(master, replica):
    """The fields of INFO that the OpenTelemetry collector's receiver redis reads, sent to a user who may do nothing else."""
    for server, role, integers in ((master, "master", _RECEIVED_INTS), (replica, "slave", _RECEIVED_INTS + _RECEIVED_OF_REPLICAS)):
        client = Client(server.port)
        require(client("ACL", "SETUSER", "monitor", "on", ">secret", "-@all", "+info", "+client|setinfo", "+cluster|info") == b"+OK", "ACL SETUSER")
        # The first requests of its client, go-redis.
        require(b"proto" in client("HELLO", 3, "AUTH", "monitor", "secret"), "HELLO")
        require(client("CLIENT", "SETINFO", "LIB-NAME", "go-redis") == b"+OK", "CLIENT SETINFO")
        require(client("GET", "no").startswith(b"-NOPERM"), "the user may do more than the example says")
        _receive(client, role, integers)
        client.close()
    read = len(_RECEIVED_INTS + _RECEIVED_OF_REPLICAS + _RECEIVED_FLOATS)
    return f"{read} fields, and the lines of databases, commands and latencies"


# They wait, change the connection, or end the server.
_NOT_CALLED = "SHUTDOWN DEBUG MONITOR SUBSCRIBE PSUBSCRIBE SSUBSCRIBE QUIT RESET SYNC PSYNC MULTI AUTH HELLO CLIENT CONFIG WAIT"


def cost_of_a_scrape(mayfly):
    """Prints what a scrape costs when every command that can be called in passing has its rows, and what turns of the loop take."""
    with_rows = 0
    listed = Client(mayfly.port)
    for name in sorted(name.decode() for name in listed("COMMAND", "LIST")):
        if name.upper() in _NOT_CALLED.split() or name.upper().startswith(("B", "FLUSH", "REPL", "SWAP")):
            continue
        arity = int(listed("COMMAND", "INFO", name)[0][1][1:])  # ":-2"
        client = Client(mayfly.port)
        client(name, *["1"] * (abs(arity) - 1))
        client.close()
        with_rows += 1
    before = int(listed.info()["loop_turn_max_us"])
    times = []
    for _ in range(50):
        started = time.perf_counter()
        page = http(mayfly.metrics_port, "/metrics")
        times.append(time.perf_counter() - started)
    after = int(listed.info()["loop_turn_max_us"])
    listed.close()
    histograms = page.count("mayfly_command_duration_seconds_count{")
    require(histograms > 150, f"only {histograms} commands have a histogram")
    middle = sorted(times)[len(times) // 2] * 1e3
    return (
        f"{with_rows} commands called, {histograms} histograms, {len(page)} bytes: a scrape takes {middle:.1f} ms, the longest of 50 "
        f"{max(times) * 1e3:.1f} ms; the longest turn of the loop was {before} us before and {after} us after them"
    )


def stops_in_order(daemon):
    """A daemon with a scraper's connection that is kept ends at once when it is told to."""
    mayfly = Mayfly(daemon)
    with mayfly:
        connection = HTTPConnection("127.0.0.1", mayfly.metrics_port, timeout=60)
        connection.request("GET", "/metrics")
        require(connection.getresponse().read(), "no page")
        started = time.monotonic()
    took = time.monotonic() - started
    connection.close()
    require(took < 5, f"the daemon took {took:.1f} s to stop")


def run(tally, root, daemon):
    unpacked = os.path.join(root, "build", "prometheus")
    unpack = os.path.join(root, "scripts", "unpack-packages")
    machine = subprocess.run(["dpkg", "--print-architecture"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    if not tally.run("prometheus, unpacked", [unpack, machine, "prometheus", unpacked]):
        return
    options = ["--maxmemory", "64mb", "--shadow-list", "yes", "--namespace", "shop prefix shop: maxmemory 1mb", "--requirepass", ""]
    checked(tally, "conf/prometheus: rules and their test", lambda: conf_passes(root, unpacked))
    with tempfile.TemporaryDirectory() as files:
        checked(tally, "conf/opentelemetry: promtool reads its scrapes", lambda: collector_passes(root, unpacked, files))
        certificates.make(files)
        options += certificates.options(files, free_port()).split()
        with replicated(daemon, *options) as (master, replica, alone):
            ports = [server.metrics_port for server in (master, replica, alone)]
            for port in ports:
                checked(tally, "promtool check metrics", lambda port=port: page_passes(unpacked, port))
            checked(tally, "the metrics that conf/ names exist", lambda: names_exist(root, ports))
            checked(tally, "Prometheus answers rules and dashboard", lambda: expressions_have_data(root, unpacked, files, ports))
            checked(tally, "INFO has what the OpenTelemetry receiver reads", lambda: receiver_reads(master, replica))
    with Mayfly(daemon, "--maxmemory", "64mb") as mayfly:
        checked(tally, "prometheus-redis-exporter says what INFO says", lambda: exporter_agrees(unpacked, mayfly))
    with Mayfly(daemon, "--maxmemory", "64mb") as mayfly:
        checked(tally, "the cost of a scrape", lambda: cost_of_a_scrape(mayfly))
    checked(tally, "a kept connection does not delay the end", lambda: stops_in_order(daemon))
