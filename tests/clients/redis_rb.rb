# ruby-redis: the steps of scripts/suite/clients.py. Arguments: port, password.
require "connection_pool"
require "redis"
require_relative "transcript"

PORT = Integer(ARGV[0])
PASSWORD = ARGV[1]
OPTIONS = { port: PORT, username: "default", password: PASSWORD, id: "driver" }.freeze
POOL = 50
Redis.exists_returns_integer = true

def attempt
  yield
rescue Redis::BaseError => e
  e
end

# Repeats the block until its value is `wanted`.
def wait_for(wanted, text, &call)
  eventually(text, ->(value) { value == wanted }) { attempt(&call) }
end

def run_pool
  pool = ConnectionPool.new(size: POOL, timeout: 20) { Redis.new(**OPTIONS) }
  here = Queue.new
  go = Queue.new
  threads = Array.new(POOL) do |number|
    Thread.new do
      pool.with do |one|
        id = one.call([:client, :id])
        here << true
        go.pop
        one.set("pool:#{number}", number)
        [id, one.get("pool:#{number}").to_i]
      end
    end
  end
  POOL.times { here.pop }
  POOL.times { go << true }
  ids, values = threads.map(&:value).transpose
  pool.shutdown(&:close)
  expect(ids.uniq.size == POOL && values.sum == POOL * (POOL - 1) / 2, "not 50 clients at one time")
  [ids.uniq.size, values.sum]
end

# An error in a pipeline ends it with that error, and its futures never know their values.
def run_pipeline(r)
  values = r.pipelined do |p|
    p.set("text", "word")
    50.times do |number|
      p.set("p:#{number}", number)
      p.incr("p:#{number}")
    end
    p.get("p:7")
    p.get("missing")
    p.del("p:1", "p:2", "missing")
  end
  error = attempt do
    r.pipelined do |p|
      p.incr("text")
      p.set("behind", "v")
    end
  end
  [*values, error, r.get("behind")]
end

r = Redis.new(**OPTIONS)
tell "connects with name and password", r.ping, r.call([:client, :getname])
tell "meets a wrong password", attempt { Redis.new(port: PORT, password: "wrong").ping }
tell "runs a pool of 50", *run_pool

saw = [r.set("ttl", "v", ex: 100), r.ttl("ttl").between?(1, 100), r.pttl("ttl").between?(99_000, 100_000)]
saw += [r.set("ttl", "w", nx: true), r.set("ttl", "w", xx: true, keepttl: true), r.persist("ttl"), r.ttl("ttl")]
saw += [r.set("ttl", "x", get: true), r.setex("ttl", 50, "y"), r.expire("ttl", 60), r.expire("missing", 60)]
tell "sets with a TTL", *saw, r.getex("ttl", persist: true), r.ttl("ttl"), r.getdel("ttl")

tell "MGET", r.mset("m:1", "a", "m:2", ""), r.mget("m:1", "missing", "m:2")

r.mset(*(0...300).flat_map { |number| [format("scan:%03d", number), number] })
keys = r.scan_each(match: "scan:*", count: 50).to_a.uniq.sort
expect(keys.size == 300, "SCAN did not find 300 keys")
tell "SCAN", *keys

tell "pipeline", *run_pipeline(r)

every = (0..255).to_a.pack("C*")
saw = [r.set(every, every), r.get(every), r.set("empty", ""), r.get("empty"), r.set("line", "a\r\nb"), r.get("line")]
large = (0...1_000_000).map { |number| number * 7 % 251 }.pack("C*")
r.set("large", large)
expect(r.get("large").b == large, "a value of 1 MB came back changed")
tell "binary values", *saw, r.strlen("large")

saw = [r.incr("n"), r.incrby("n", 41), r.decrby("n", 2), r.append("n", "1"), r.exists("n", "n")]
saw += [r.type("n"), r.type("missing"), r.get("missing"), r.del("n", "missing"), r.config(:get, "databases")]
tell "types of replies", *saw

tell "floats and ranges", attempt { r.incrbyfloat("f", 0.5) }, attempt { r.getrange("large", 1000, 1020) }

tell "meets an error", attempt { r.incr("text") }, r.get("text"), attempt { r.call([:nosuch]) }
tell "meets a wrong type", attempt { r.lpush("text", "x") }

r.set("brief", "v", px: 30)
tell "meets an expiry", wait_for(nil, "no expiry") { r.get("brief") }, r.ttl("brief"), r.exists("brief")

r.set("before", "v")
puts JSON.generate(restart: true)
$stdout.flush
$stdin.gets
wait_for("PONG", "no reconnection") { r.ping }
tell "reconnects after a restart", r.get("before"), r.call([:client, :getname])
