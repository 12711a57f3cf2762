"""TLS: what requests, handshakes and idle connections cost the server."""

import os
import re
import shutil
import socket
import ssl
import subprocess

import certificates
from figures import Figures, Trouble, within
from servers import Spec, child_setup, free_port

TITLE = "TLS"
ABOUT = """Over TLS 1.3, with a certificate of RSA 2048: user and system time of the server's process for a GET hit at pipeline
depths 1 and 16, by redis-benchmark with 50 connections, and for a GET of 64 KB; for a connection that makes a full
handshake, sends one PING and closes, with certificates of RSA 2048 and ECDSA P-256, and for one that resumes a session;
and resident bytes per connection, for 2,000 that have sent a PING and are idle."""
SECONDS = (120, 25)
NEEDS = "openssl, redis-benchmark, and 2,200 open files"

VALUE_BYTES = 64
LARGE_BYTES = 65_536
REQUESTS = {1: 100_000, 16: 500_000}
TARGET = within(1, "redis")


def run(bench):
    rounds = bench.choose(5, 1)
    found = Figures()
    requests = {depth: found.figure(f"GET hit over TLS, pipeline {depth}", "µs", TARGET, main=True) for depth in REQUESTS}
    large = found.figure("GET over TLS, values of 64 KB", "µs", TARGET, main=True)
    shakes = {
        (kind, resumed): found.figure(f"connection over TLS, {name}", "µs", TARGET, main=True)
        for kind, resumed, name in (
            ("rsa", False, "full handshake, RSA 2048"),
            ("ec", False, "full handshake, ECDSA P-256"),
            ("ec", True, "session resumed"),
        )
    }
    memory = found.figure("bytes an idle connection over TLS, 2,000 of them", "B", TARGET, main=True)
    steps = len(bench.specs) * (rounds * (len(requests) + 1 + len(shakes)) + 1)
    bench.progress.section(TITLE, steps)
    folders = {}
    for kind in certificates.KINDS:
        folders[kind] = os.path.join(bench.folder, f"tls-{kind}")
        certificates.make(folders[kind], kind)
    for turn in range(rounds):
        for spec in bench.rotated(bench.specs, turn):
            with_rsa = [(row, _cost_of_requests, (depth, VALUE_BYTES)) for depth, row in requests.items()]
            with_rsa.append((large, _cost_of_requests, (1, LARGE_BYTES)))
            with_rsa.append((shakes["rsa", False], _cost_of_connections, (False,)))
            with_ec = [(shakes["ec", resumed], _cost_of_connections, (resumed,)) for resumed in (False, True)]
            for kind, measured in (("rsa", with_rsa), ("ec", with_ec)):
                _measure(bench, spec, folders[kind], measured, f"round {turn + 1} of {rounds}")
    for spec in bench.specs:
        _measure(bench, spec, folders["rsa"], [(memory, _bytes_a_connection, ())], "idle connections")
    return found


def _measure(bench, spec, folder, measured, step):
    """Starts the server with TLS and measures each (figure, function, arguments)."""
    port = free_port()
    with_tls = Spec(spec.name, spec.command + certificates.options(folder, port) + " --tls-auth-clients no")

    def all_of_them():
        with bench.start(with_tls) as server:
            for row, measure, arguments in measured:
                bench.progress.step(f"{step}, {row.name}, {spec.name}")
                row.add(spec.name, bench.attempt(measure, bench, server, folder, port, *arguments))

    trouble = bench.attempt(all_of_them)
    if isinstance(trouble, Trouble):
        for row, _, _ in measured:
            row.add(spec.name, trouble)


def _cost_of_requests(bench, server, folder, port, depth, value_bytes):
    """The server's CPU microseconds per GET hit."""
    program = shutil.which("redis-benchmark")
    if program is None:
        return Trouble("redis-benchmark is missing")
    with server.wire() as wire:
        wire.ask("SET", "key", "x" * value_bytes)
    count = bench.choose(REQUESTS[depth], REQUESTS[depth] // 8)
    if value_bytes == LARGE_BYTES:
        count //= 4
    words = [program, "--tls", "--cacert", f"{folder}/ca.crt", "-p", str(port), "-c", "50", "-P", str(depth)]
    words += ["-n", str(count), "-q", "GET", "key"]
    before = server.cpu_s()
    done = subprocess.run(words, capture_output=True, text=True, preexec_fn=child_setup(bench.client_processor))
    spent = server.cpu_s() - before
    if done.returncode != 0 or not re.search(r"requests per second", done.stdout):
        return Trouble((done.stderr or done.stdout).strip()[-200:] or f"redis-benchmark ended with {done.returncode}")
    with server.wire() as wire:
        hits = int(wire.info("stats")["keyspace_hits"])
    return spent / count * 1e6 if hits >= count else Trouble(f"{hits:,} of {count:,} were hits")


def _context(folder):
    context = ssl.create_default_context(cafile=f"{folder}/ca.crt")
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    return context


def _ping(context, port, session=None):
    """A connection that was answered once."""
    plain = socket.create_connection(("127.0.0.1", port), 30)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        secure = context.wrap_socket(plain, server_hostname="localhost", session=session)
    except BaseException:
        plain.close()
        raise
    secure.sendall(b"PING\r\n")
    if secure.recv(100) != b"+PONG\r\n":
        raise ConnectionError("no PONG")
    return secure


def _cost_of_connections(bench, server, folder, port, resumed):
    """The server's CPU microseconds per connection: handshake, one PING, close."""
    context = _context(folder)
    with _ping(context, port) as first:
        session = first.session if resumed else None
    count = bench.choose(1_000, 200)
    before = server.cpu_s()
    for _ in range(count):
        with _ping(context, port, session) as one:
            if one.session_reused != resumed:
                return Trouble("the session was not resumed" if resumed else "a session was resumed")
    return (server.cpu_s() - before) / count * 1e6


def _bytes_a_connection(bench, server, folder, port):
    wanted = bench.choose(2_000, 500)
    lack = bench.lack_of_files(wanted)
    if lack:
        return lack
    context = _context(folder)
    with _ping(context, port):
        pass
    start, held = server.settled_bytes(), []
    try:
        for _ in range(wanted):
            held.append(_ping(context, port))
        return (server.settled_bytes() - start) / wanted
    finally:
        for one in held:
            one.close()
