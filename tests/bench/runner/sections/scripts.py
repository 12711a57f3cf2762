"""Server CPU per script that is called by its SHA-1."""

from figures import Figures, Trouble, within

TITLE = "Scripts"
ABOUT = """EVALSHA at pipeline 16, 50 connections, 1,000 keys: user and system time of the server's process per call. The scripts make the
calls of real scripts in their order: a single GET; the lock of redlock, half taken and half given back; a rate limiter with
SET NX, INCRBY and PTTL, as in rate-limiter-flexible."""
SECONDS = (60, 6)
NEEDS = ""

CONNECTIONS = 50
DEPTH = 16
KEYS = 1_000
READ = "return redis.call('get', KEYS[1])"
TAKE_LOCK = """
for _, name in ipairs(KEYS) do
  if redis.call('exists', name) ~= 0 then return 0 end
end
for _, name in ipairs(KEYS) do
  redis.call('set', name, ARGV[1], 'PX', ARGV[2])
end
return #KEYS"""
GIVE_BACK_LOCK = """
local released = 0
for _, name in ipairs(KEYS) do
  if redis.call('get', name) == ARGV[1] then
    released = released + 1
    redis.pcall('del', name)
  end
end
return released"""
LIMIT_RATE = """
redis.call('set', KEYS[1], 0, 'EX', ARGV[2], 'NX')
local used = redis.call('incrby', KEYS[1], ARGV[1])
return {used, redis.call('pttl', KEYS[1])}"""
# name -> the scripts and what follows their names, one after another.
CASES = {
    "EVALSHA of one GET": ((READ, "1 k:{k}"),),
    "EVALSHA of a lock": ((TAKE_LOCK, "1 lock:{k} owner 30000"), (GIVE_BACK_LOCK, "1 lock:{k} owner")),
    "EVALSHA of a rate limiter": ((LIMIT_RATE, "1 limit:{k} 1 60"),),
}


def run(bench):
    rounds = bench.choose(5, 1)
    requests = bench.choose(400_000, 40_000)
    found = Figures()
    rows = {name: found.figure(f"{name}, pipeline {DEPTH}", "µs", within(0.6, "redis"), main=True) for name in CASES}
    bench.progress.section(TITLE, rounds * len(CASES) * len(bench.specs))
    load = {"connections": CONNECTIONS, "depth": DEPTH, "requests": requests, "keys": KEYS, "members": 1}
    with bench.all_servers(rows.values()) as servers:
        forms = {server.name: bench.attempt(_prepare, server) for server in servers}
        for turn in range(rounds):
            for name, row in rows.items():
                for server in bench.rotated(servers, turn):
                    bench.progress.step(f"round {turn + 1} of {rounds}, {name}, {server.name}")
                    ready = forms[server.name]
                    if isinstance(ready, Trouble):
                        row.add(server.name, ready)
                    else:
                        bench.ask_into(row, server, request=ready[name], **load)
    return found


def _prepare(server):
    """name -> the requests, once the scripts are loaded and the keys are there."""
    with server.wire() as wire:
        for number in range(KEYS):
            wire.ask("SET", f"k:{number:012d}", "v" * 64)
        return {
            name: " ; ".join(f"EVALSHA {wire.ask('SCRIPT', 'LOAD', script)} {rest}" for script, rest in scripts)
            for name, scripts in CASES.items()
        }
