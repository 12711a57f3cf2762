"""conf/ names metrics that /metrics has, and the panels of the dashboard stand beside each other.

scripts/test --metrics asks a daemon and a Prometheus; this check needs neither, so that a renamed metric fails in every run.
"""

import itertools
import json
import re

TABLE, PAGE = "src/exec/metrics/metric_table.cc", "src/exec/metrics/metrics_page.cc"
DASHBOARD = "conf/grafana/mayfly.json"
_ROW = re.compile(r'\{"\w+",\s*"\w*",\s*"(\w+)",\s*k(?:Gauge|Counter)\b')
_INFO = re.compile(r'\.AddInfo\("(\w+)"')
_HISTOGRAM = re.compile(r'MetricsText::Family \w+ = \{\s*"(\w+)"')
# The names of recorded series have colons: instance:mayfly_hit_ratio:rate5m.
_NAMED = re.compile(r"(?<![:\w])mayfly_(\w+)(?![:\w])")


def _metrics(files):
    histograms = _HISTOGRAM.findall(files[PAGE])
    parts = [name + suffix for name in histograms for suffix in ("_bucket", "_sum", "_count")]
    return set(_ROW.findall(files[TABLE]) + _INFO.findall(files[PAGE]) + parts)


def _overlap(one, other):
    return all(one[at] < other[at] + other[size] and other[at] < one[at] + one[size] for at, size in (("x", "w"), ("y", "h")))


def _wrong_panels(panels):
    for one, other in itertools.combinations(panels, 2):
        if one["id"] == other["id"] or _overlap(one["gridPos"], other["gridPos"]):
            yield f"'{one['title']}' and '{other['title']}' have one id, or lie upon each other"
    for panel in panels:
        if panel["type"] != "row" and not panel.get("targets"):
            yield f"'{panel['title']}' shows nothing"


def find(files):
    missing = [path for path in (TABLE, PAGE, DASHBOARD) if path not in files]
    if missing:
        return [f"{path}: missing" for path in missing]
    there, wrong = _metrics(files), []
    for path, text in sorted(files.items()):
        if path.startswith("conf/") and path.endswith((".yml", ".json")):
            wrong += [f"{path}: /metrics has no mayfly_{name}" for name in sorted(set(_NAMED.findall(text)) - there)]
    return wrong + [f"{DASHBOARD}: {text}" for text in _wrong_panels(json.loads(files[DASHBOARD])["panels"])]


def selftest():
    table = '    {"used_memory", "", "memory_bytes", kGauge, "Used."},\n    {"slave", "lag", "lag_seconds", kCounter,\n     "Lag."},\n'
    page = 'Family;\nconstexpr MetricsText::Family kLag = {"late_seconds",\n  "Late."};\n  text.AddInfo("role_info", "The role.",\n'

    def board(*panels):
        made = [
            {"id": i, "type": "timeseries", "title": name, "gridPos": {"x": x, "y": 0, "w": 8, "h": 8}, "targets": [{"expr": f"rate(mayfly_{name}[1m])"}]}
            for i, (name, x) in enumerate(panels)
        ]
        return json.dumps({"panels": made + [{"id": 99, "type": "row", "title": "Row", "gridPos": {"x": 0, "y": 8, "w": 24, "h": 1}}]})

    files = {TABLE: table, PAGE: page, DASHBOARD: board(("memory_bytes", 0), ("late_seconds_bucket", 8)), "conf/prometheus/a.yml": "a:mayfly_b:c mayfly_role_info mayfly_lag_seconds\n"}
    assert find(files) == [], find(files)
    for wrong in (
        {DASHBOARD: board(("memory", 0))},
        {DASHBOARD: board(("late_seconds", 0))},
        {DASHBOARD: board(("memory_bytes", 0), ("lag_seconds", 7))},
        {DASHBOARD: board(("memory_bytes", 0)).replace('"id": 99', '"id": 0')},
        {DASHBOARD: board(("memory_bytes", 0)).replace('"targets"', '"target"')},
        {"conf/prometheus/a.yml": "expr: mayfly_lag > 1\n"},
        {TABLE: table.replace("memory_bytes", "used_bytes")},
    ):
        assert len(find(files | wrong)) == 1, wrong
    assert len(find({TABLE: table})) == 2
