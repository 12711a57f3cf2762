# redis-rb's sentinels: the steps of scripts/suite/clients.py. Arguments: the sentinels' ports, password.
require "redis"
require_relative "transcript"

SENTINELS = ARGV[0].split(",").map { |port| { host: "127.0.0.1", port: Integer(port) } }
PASSWORD = ARGV[1]
MASTER = "mymaster".freeze
REPLICAS = 2
WAIT_MS = 20_000

def attempt
  yield
rescue Redis::BaseError => e
  e
end

def ask(request)
  puts JSON.generate(request => true)
  $stdout.flush
  $stdin.gets
end

def connect(role)
  Redis.new(url: "redis://#{MASTER}", sentinels: SENTINELS, role: role, password: PASSWORD, timeout: 30)
end

def role(r)
  r.call([:role]).first
end

# Host and port, as the sentinels know them.
def known_master
  SENTINELS.each do |place|
    one = Redis.new(**place)
    found = attempt { one.sentinel("get-master-addr-by-name", MASTER) }
    one.close
    return found if found.is_a?(Array)
  end
  nil
end

first = Redis.new(**SENTINELS.first)
eventually("the replicas are not found", ->(found) { found.is_a?(Array) && found.size == REPLICAS }) do
  attempt { first.sentinel("replicas", MASTER) }
end
master = connect(:master)
replica = connect(:slave)
tell "finds the master and a replica by the sentinels", role(master), role(replica)

saw = [master.set("confirmed", "v"), master.call([:wait, REPLICAS, WAIT_MS])]
tell "reads at a replica what the master has got", *saw, replica.get("confirmed"), attempt { replica.set("k", "v") }

before = known_master
ask("kill")
written = eventually("no write is taken", ->(reply) { reply == "OK" }) { attempt { master.set("after", "v") } }
expect(known_master != before, "the master is the one that was killed")
tell "goes on at another server when the master is killed", written, role(master)
tell "finds there what WAIT has confirmed", master.get("confirmed"), master.get("after")

ask("restart")
eventually("no replica comes back", ->(info) { info.is_a?(Hash) && info["connected_slaves"] == REPLICAS.to_s }) do
  attempt { master.info("replication") }
end
saw = [master.set("last", "v"), master.call([:wait, REPLICAS, WAIT_MS])]
old = Redis.new(host: before[0], port: Integer(before[1]), password: PASSWORD)
tell "has the old master as a replica", *saw, role(old), old.mget("confirmed", "after", "last")
