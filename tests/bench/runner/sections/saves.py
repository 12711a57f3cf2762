"""What a save costs the clients, and how long it takes."""

import os
import time

import kept
from figures import OURS, Figures, Trouble, add_parts, at_most, within

TITLE = "A save under load"
ABOUT = """A server holds 10M keys of 100 random bytes. A client sends 50,000 requests a second, a tenth of which write, and another asks 1,000
times a second. BGSAVE: how much longer does the second client wait, how much memory is added (with the pages that a fork copies), how
long does the save take, how large is the file? The column *disk alone* is a program that writes as many bytes as Mayfly's file has, in
the same pieces, while another program on the same processor does nothing but look at the clock: its longest pause stands in the line of
the loop turns. The second run has a million such keys, a hash of 10M fields and a string of 100 MB, which the first client
writes to meanwhile."""
SECONDS = (900, 40)
NEEDS = "8 GiB of memory, 3 GB of disk"

VALUE_BYTES = 100
RATE = 50_000
WRITE_SHARE = 0.1
DISK = "disk alone"
VALUE = "v" * VALUE_BYTES


class Case:
    def __init__(self, name, keys, fields=0, text_bytes=0):
        self.name, self.keys, self.fields, self.text_bytes = name, keys, fields, text_bytes

    def writes(self):
        """The client's writing requests."""
        if not self.fields:
            return {}
        return {
            "write": f"SET k:{{k}} {VALUE} ; HSET big f:{{m}} w:{{m}} ; SETRANGE huge 50000000 {VALUE}",
            "members": self.fields,
        }


def run(bench):
    cases = (
        Case("10M keys", bench.choose(10_000_000, 200_000)),
        Case("large values", bench.choose(1_000_000, 100_000), bench.choose(10_000_000, 200_000), bench.choose(100 << 20, 10 << 20)),
    )
    bench.need_memory(bench.choose(8 << 30, 1 << 30), "the keys, and a fork's copy")
    found = Figures()
    bench.progress.section(TITLE, len(cases) * len(bench.specs))
    for case in cases:
        rows = _rows(found, case.name)
        for spec in bench.specs:
            bench.progress.step(f"{case.name}, {spec.name}")
            got = bench.attempt(_measure, bench, spec, case)
            add_parts(rows, spec.name, got)
            if spec.name == OURS and isinstance(got, dict):
                alone = _disk_alone(bench, got["file_mb"])
                rows["seconds"].add(DISK, alone["seconds"])
                rows["turn_us"].add(DISK, alone["pause_us"])
    return found


def _rows(found, case):
    return {
        "turn_us": found.figure(f"{case}: longest loop turn while it saves", "µs", at_most(2000), main=True),
        "before_us": found.figure(f"{case}: p99.9 of the waits without a save", "µs", main=True),
        "during_us": found.figure(f"{case}: p99.9 of the waits while it saves", "µs", main=True),
        "times": found.figure(f"{case}: the second / the first", "times", at_most(1.5), main=True),
        "max_us": found.figure(f"{case}: longest wait while it saves", "µs", main=True),
        "traffic_ms": found.figure(f"{case}: longest wait of the client that writes", "ms", main=True),
        "added": found.figure(f"{case}: memory added", "%", at_most(10), main=True),
        "seconds": found.figure(f"{case}: time of the save", "s", within(1.2, DISK), main=True),
        "file_mb": found.figure(f"{case}: size of the file", "MB", main=True),
    }


def _measure(bench, spec, case):
    kept_spec = kept.with_file(bench, spec)
    with bench.start(kept_spec) as server:
        trouble = _fill(bench, server, case)
        if trouble:
            return trouble
        load = {"keys": case.keys, "rate": RATE, "write_share": WRITE_SHARE, "value_bytes": VALUE_BYTES, **case.writes()}
        with bench.client.traffic(server.port, **load) as traffic:
            time.sleep(1)
            before = bench.client.probe(server, seconds=bench.choose(20, 3))
            if isinstance(before, Trouble):
                return before
            got = _save(bench, server)
            told = traffic()
    path = kept.file_of(bench, spec)
    if isinstance(got, Trouble) or isinstance(told, Trouble):
        return got if isinstance(got, Trouble) else told
    got["file_mb"] = os.path.getsize(path) / 1e6
    os.unlink(path)
    errors = sum(s["errors"] for s in told["slices"])
    if errors:
        return Trouble(f"{errors:,} requests got an error")
    begin = got.pop("began_wall_ms") - told["started_wall_ms"]
    end = got.pop("ended_wall_ms") - told["started_wall_ms"]
    slices = told["slices"][int(begin // told["slice_ms"]) : int(end // told["slice_ms"]) + 2]
    got["traffic_ms"] = max(s["longest_us"] for s in slices) / 1000
    got["before_us"] = before["p999_us"]
    got["times"] = got["during_us"] / before["p999_us"]
    return got


def _fill(bench, server, case):
    """A Trouble, or None."""
    got = bench.client.load(server, keys=case.keys, value_bytes=VALUE_BYTES, noise=1)
    if not isinstance(got, Trouble) and case.fields:
        got = bench.client.load(server, keys=1, request="HSET big f:{m} v:{m}", members=case.fields)
        with server.wire() as wire:
            wire.ask("SETRANGE", "huge", case.text_bytes - 1, "x")
    return got if isinstance(got, Trouble) else None


def _save(bench, server):
    with server.wire() as wire:
        wire.ask("CONFIG", "RESETSTAT")
        held = server.resident_bytes()
        server.forget_peak()
        with bench.client.probing(server) as finish:
            began = time.time()
            wire.ask("BGSAVE")
            while wire.info("persistence")["rdb_bgsave_in_progress"] != "0":
                time.sleep(0.1)
            ended = time.time()
            probed = finish()
        if isinstance(probed, Trouble):
            return probed
        told = wire.info("persistence")
        stats = wire.info("stats")
    if told["rdb_last_bgsave_status"] != "ok":
        return Trouble("the save failed")
    added = server.peak_bytes() - held + int(told.get("rdb_last_cow_size", 0))
    got = {
        "during_us": probed["p999_us"],
        "max_us": probed["max_us"],
        "added": 100 * added / held,
        "seconds": ended - began,
        "began_wall_ms": began * 1000,
        "ended_wall_ms": ended * 1000,
    }
    if "loop_turn_max_us" in stats:
        got["turn_us"] = int(stats["loop_turn_max_us"])
    return got


def _disk_alone(bench, megabytes):
    """Seconds that a program needs to write so much into the folder of the files, and how long another program waited for the
    processor."""
    return bench.run_script("disk_alone", os.path.join(bench.folder, "disk-alone"), round(megabytes * 1e6))
