"""redis-cli -c and redis-benchmark --cluster, Debian's, against mayfly --shards 2. Arguments: port, password."""

import json
import re
import subprocess
import sys

PORT, PASSWORD = int(sys.argv[1]), sys.argv[2]
LIMIT_S = 30


def cli(*words, port=PORT, given=b""):
    command = ["redis-cli", "-p", str(port), "--no-auth-warning", "-a", PASSWORD, *words]
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S)
    return done.stdout.decode().strip()


def tell(step, *values):
    print(json.dumps({"step": step, "saw": values}), flush=True)


def expect(truth, text):
    if not truth:
        sys.exit(text)


saw = [cli("-c", "SET", key, key) for key in ("a", "b", "h", "foo", "bar")]
saw += [cli("-c", "GET", key, port=PORT + 1) for key in ("a", "b", "h", "foo", "bar")]
expect(saw == ["OK"] * 5 + ["a", "b", "h", "foo", "bar"], f"{saw}")
tell("redis-cli -c", *saw)

moved = cli("GET", "a")
expect(moved == f"MOVED 15495 127.0.0.1:{PORT + 1}", moved)
tell("redis-cli without -c", moved.replace(str(PORT + 1), "PORT"))

checked = cli("--cluster", "check", f"127.0.0.1:{PORT}")
expect("[OK] All nodes agree about slots configuration." in checked, checked)
expect("[OK] All 16384 slots covered." in checked, checked)
tell("redis-cli --cluster check", len(re.findall(r"^M: ", checked, re.M)))

called = cli("--cluster", "call", f"127.0.0.1:{PORT}", "DBSIZE")
expect(sum(int(size) for size in re.findall(r": (\d+)$", called, re.M)) == 5, called)
tell("redis-cli --cluster call", 5)

command = ["redis-benchmark", "-p", str(PORT), "-a", PASSWORD, "--cluster", "-q", "-n", "4000", "-c", "20", "-r", "1000"]
done = subprocess.run([*command, "-t", "set,get,incr"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S)
text = done.stdout.decode().replace("\r", "\n")
expect(done.returncode == 0 and "Cluster has 2 master nodes" in text, text[-2000:])
names = re.findall(r"^([A-Z]+): [\d.]+ requests per second", text, re.M)
expect(names == ["SET", "GET", "INCR"], text[-2000:])
tell("redis-benchmark --cluster", *names)
