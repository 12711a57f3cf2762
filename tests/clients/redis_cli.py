"""redis-cli and redis-benchmark, Debian's: each mode that applies. Arguments: port, password."""

import json
import os
import re
import subprocess
import sys
import tempfile

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
    tell("--rdb", rdb())


def stat():
    """The columns of --stat, which never ends by itself, and how many keys a row tells of."""
    command = ["redis-cli", *LOGIN, "--stat", "-i", "0.05"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            head = [process.stdout.readline().decode().split() for _ in range(2)]
            rows = [process.stdout.readline().decode().split() for _ in range(2)]
        finally:
            process.kill()
    return [head, [[row[0], len(row)] for row in rows]]


def monitor():
    """What MONITOR shows of another redis-cli, without times and addresses."""
    command = ["redis-cli", *LOGIN, "MONITOR"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            saw = [process.stdout.readline().decode()]
            cli("-n", "3", "SET", "seen", "\x01 \"quoted\"")
            while '"SET"' not in saw[-1]:
                saw.append(process.stdout.readline().decode())
        finally:
            process.kill()
    return [re.sub(r"^[\d.]+ \[(\d+) [\d.:]+\]", r"\1", line) for line in saw]


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


def benchmark():
    """The names of the tests that came to their end."""
    saw = []
    for more in ([], ["-P", "16"], ["--threads", "2"], ["-3"], ["-r", "1000", "-d", "100"]):
        command = ["redis-benchmark", "-p", PORT, "--user", "default", "-a", PASSWORD, "-q"]
        command += ["-n", "2000", "-c", "50", "-t", "ping,set,get,incr,mset", *more]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(command, timeout=LIMIT_S, **streams)
        text = done.stdout.decode().replace("\r", "\n")
        names = re.findall(r"^([A-Z][^:\n]*): [\d.]+ requests per second", text, re.M)
        expect(len(names) == 6 and done.returncode == 0, f"redis-benchmark {more}: {text[-2000:]}")
        saw.append([names, sorted(set(re.findall(r"^.*(?:WARN|rror).*$", text, re.M)))])
    tell("redis-benchmark", *saw)


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
