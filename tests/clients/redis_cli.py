"""redis-cli and redis-benchmark, Debian's: each mode that applies. Arguments: port, password."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading

PORT, PASSWORD = sys.argv[1:3]
LIMIT_S = 30
LOGIN = ["-p", PORT, "--no-auth-warning", "--user", "default", "-a", PASSWORD]


def cli(*words, given=b""):
    """Output and exit code of one redis-cli."""
    done = subprocess.run(
        ["redis-cli", *LOGIN, *words], input=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S
    )
    return [done.stdout.decode("latin-1"), done.returncode]


def tell(step, *values):
    print(json.dumps({"step": step, "saw": values}), flush=True)


def expect(truth, text):
    if not truth:
        sys.exit(text)


def request(*words):
    encoded = [word.encode("latin-1") for word in words]
    return b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded)


def lines(text, *beginnings):
    """The lines that begin so, spaces trimmed, in order of the alphabet."""
    return sorted(line.strip() for line in text.splitlines() if line.startswith(beginnings))


class Listener:
    """A redis-cli that prints until it is killed: at the end of the `with` block, or after LIMIT_S."""

    def __init__(self, *words):
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self._process = subprocess.Popen(["redis-cli", *LOGIN, *words], **streams)
        self._late = threading.Timer(LIMIT_S, self._process.kill)
        self._late.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._late.cancel()
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def line(self):
        text = self._process.stdout.readline().decode("latin-1")
        expect(text.endswith("\n"), "redis-cli ended, or fell silent")
        return text


def plain():
    url = f"redis://default:{PASSWORD}@127.0.0.1:{PORT}/3"
    saw = [cli("PING"), cli("SET", "text", "word"), cli("--no-raw", "GET", "text"), cli("--no-raw", "GET", "missing")]
    saw += [cli("INCR", "text"), cli("-e", "INCR", "text"), cli("-x", "SET", "given", given=b"from\0stdin")]
    saw += [cli("GET", "given"), cli("--no-raw", "GET", "given"), cli("--csv", "MGET", "text", "missing")]
    saw += [cli("-r", "3", "-i", "0", "INCR", "n"), cli("-n", "3", "SET", "there", "v"), cli("-u", url, "GET", "there")]
    tell("commands", *saw)
    session = b'SELECT 3\nGET there\nSET "a b" "\\x00\\xff"\nGET "a b"\nNOSUCH\nset k\n2 INCR n\n'
    tell("a session", cli("--no-raw", given=session), cli(given=session))
    maps = cli("-3", "--no-raw", "CONFIG", "GET", "databases")
    tell("-3", maps, cli("-3", "--json", "MGET", "text", "missing"))
    tell("a wrong password", cli("-a", "wrong", "PING"))


def modes():
    given = b"".join(request("SET", f"scan:{number:03}", "v" * number) for number in range(300))
    given += request("INCR", "scan:009") + request("SET", bytes(range(256)).decode("latin-1"), "v")
    piped, code = cli("--pipe", given=given)
    expect("errors: 1, replies: 302" in piped, f"--pipe: {piped}")
    tell("--pipe", lines(piped, "errors", "All", "ERR"), code)

    keys = [cli("--scan", "--pattern", "scan:*"), cli("--scan", "--count", "7")]
    keys.append(cli("--scan", "--quoted-pattern", '"\\x00*"'))
    expect(len(keys[0][0].splitlines()) == 300, "--scan did not find 300 keys")
    tell("--scan", *([sorted(text.splitlines()), code] for text, code in keys))

    text, code = cli("--bigkeys")
    expect("Biggest string found" in text, f"--bigkeys: {text}")
    tell("--bigkeys", lines(text, "Sampled", "Total key", "Biggest", "0 ", "303 ", "304 ", "305 "), code)

    # Sizes are each server's own, but for one key there is no doubt which one is the biggest.
    cli("SET", "huge", "v" * 10_000)
    text, code = cli("--memkeys")
    found = lines(text, "Sampled", "Biggest", "ERR", "Error", "(error)")
    tell("--memkeys", [re.sub(r"\d+ bytes", "", line) for line in found], code)

    tell("--latency", bool(re.match(r"\d+ \d+ [\d.]+ [1-9]\d*\n", cli("--latency", "-i", "0.2")[0])))
    tell("--stat", *stat())
    tell("MONITOR", *monitor())
    tell("SUBSCRIBE", subscriber([], "SUBSCRIBE", "news"), subscriber(["-3"], "SUBSCRIBE", "other", "news"))
    tell("PSUBSCRIBE", subscriber([], "PSUBSCRIBE", "n*", "o*"), subscriber(["-3"], "PSUBSCRIBE", "n?w[s]"))
    tell("--eval", *evaluate())
    tell("--rdb", rdb())


def stat():
    """The columns of --stat, and the number of keys in each row."""
    with Listener("--stat", "-i", "0.05") as listener:
        head = [listener.line().split() for _ in range(2)]
        rows = [listener.line().split() for _ in range(2)]
    return [head, [[row[0], len(row)] for row in rows]]


def monitor():
    """What MONITOR shows of another redis-cli, without times and addresses."""
    with Listener("MONITOR") as listener:
        saw = [listener.line()]
        cli("-n", "3", "SET", "seen", '\x01 "quoted"')
        while '"SET"' not in saw[-1]:
            saw.append(listener.line())
    return [re.sub(r"^[\d.]+ \[(\d+) [\d.:]+\]", r"\1", line) for line in saw]


def subscriber(options, command, *channels):
    """How many clients got each message, and what a subscriber prints: confirmations, then the messages."""
    with Listener("--no-raw", *options, command, *channels) as listener:
        lines = [listener.line()]
        while f"(integer) {len(channels)}" not in lines[-1]:
            lines.append(listener.line())
        counts = [cli("PUBLISH", "news", text) for text in ("word", "a\r\nb", "last")]
        while '"last"' not in lines[-1]:
            lines.append(listener.line())
    return [counts, lines]


def evaluate():
    """What --eval prints for scripts in files, with keys and arguments."""
    scripts = (
        "return {KEYS[1], KEYS[2], ARGV[1], #ARGV, 1.9, {ok = 'fine'}, false}",
        "redis.call('SET', KEYS[1], ARGV[1], 'PX', 90000) return redis.call('PTTL', KEYS[1]) > 80000",
        "return redis.call('INCR', KEYS[1])",
        "return redis.pcall('NOSUCH')",
        "return {err = 'MINE own words'}",
        "return (",
    )
    saw = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "script.lua")
        for script in scripts:
            with open(path, "w", encoding="utf-8") as file:
                file.write(script)
            for options in (["--no-raw"], ["-3", "--no-raw"], ["-e"]):
                saw.append(cli(*options, "--eval", path, "text", "other", ",", "one", "two words"))
    return saw


def rdb():
    """Written, by a server that can; one that cannot must say so."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "dump.rdb")
        text, code = cli("--rdb", path)
        if code == 0:
            expect(os.path.getsize(path) > 0, f"--rdb wrote nothing: {text}")
            return "written"
        expect("ERR" in text, f"--rdb: {text}")
        return "refused"


def bench(*more):
    """The names of the tests that redis-benchmark finished, and its warnings and errors."""
    command = ["redis-benchmark", "-p", PORT, "--user", "default", "-a", PASSWORD, "-q", "-c", "50", *more]
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, timeout=LIMIT_S, **streams)
    text = done.stdout.decode().replace("\r", "\n")
    expect(done.returncode == 0, f"redis-benchmark {more}: {text[-2000:]}")
    names = re.findall(r"^([A-Z][^:\n]*): [\d.]+ requests per second", text, re.M)
    return [names, sorted(set(re.findall(r"^.*(?:WARN|rror).*$", text, re.M)))]


def benchmark():
    saw = []
    for more in ([], ["-P", "16"], ["--threads", "2"], ["-3"], ["-r", "1000", "-d", "100"]):
        saw.append(bench("-n", "2000", "-t", "ping,set,get,incr,mset", *more))
        expect(len(saw[-1][0]) == 6, f"redis-benchmark {more}: {saw[-1]}")
    tell("redis-benchmark", *saw)
    every, complaints = bench("-n", "1000")
    expect(len(every) >= 20 and not complaints, f"redis-benchmark: {every} {complaints}")
    tell("redis-benchmark, every test", *every, bench("-n", "1000", "-P", "8", "-r", "100"))


def restart():
    session = ["redis-cli", *LOGIN, "--no-raw"]
    with subprocess.Popen(session, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:

        def ask(line):
            process.stdin.write(line + b"\n")
            process.stdin.flush()
            return process.stdout.readline().decode()

        before = [ask(b"SET before v"), ask(b"GET before")]
        print(json.dumps({"restart": True}), flush=True)
        sys.stdin.readline()
        # The first command finds the connection closed, the next one has a new one.
        tell("reconnects after a restart", *before, ask(b"PING"), ask(b"GET before"), ask(b"PING"))
        process.stdin.close()


plain()
modes()
benchmark()
restart()
