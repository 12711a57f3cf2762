# Sidekiq: jobs, and the worker processes that do them. Arguments: port, password.
ENV["REDIS_URL"] = "redis://default:#{ARGV[1]}@127.0.0.1:#{ARGV[0]}/0"

require "redis"
require "sidekiq/api"
require_relative "sidekiq_work"
require_relative "transcript"

R = Redis.new(url: ENV["REDIS_URL"])
Redis.exists_returns_integer = true

# Starts a worker process and waits until it has registered itself. It has one thread, so that jobs run one after the other.
def process(*queues)
  work = File.join(__dir__, "sidekiq_work.rb")
  options = ["--concurrency", "1", "--timeout", "1", "--require", work]
  pid = spawn("sidekiq", *options, *queues.flat_map { |queue| ["--queue", queue] }, in: :close, out: :err)
  eventually("no process", ->(all) { all.any? { |one| one["pid"] == pid } }) { Sidekiq::ProcessSet.new.to_a }
  pid
end

def exit_code(pid)
  Process.wait2(pid)[1].exitstatus
end

# The names of the jobs that ran, once there are `count`.
def ran(count)
  eventually("not #{count} jobs", ->(all) { all.size >= count }) { R.lrange("ran", 0, -1) }
end

# A worker process updates these numbers every few seconds, and when it ends.
def sizes
  stats = Sidekiq::Stats.new
  [stats.enqueued, stats.processed, stats.failed, stats.scheduled_size, stats.retry_size, stats.dead_size, stats.workers_size]
end

def plain
  id = Named.perform_async("a", 1, nil, { "deep" => [true, 1.5] })
  Named.set(queue: "high").perform_async("b")
  Sidekiq::Client.push_bulk("class" => Named, "args" => [["c"], ["d"], ["e"]])
  removed = Named.perform_async("removed")
  queue = Sidekiq::Queue.new
  job = queue.find_job(id)
  saw = [queue.size, Sidekiq::Queue.new("high").size, Sidekiq::Queue.all.map(&:name).sort]
  saw += [job.klass, job.args, job.display_class]
  tell "pushes", *saw, queue.map { |one| one.args.first }, queue.find_job(removed).delete, sizes, queue.latency < 60

  pid = process("high", "default")
  tell "processes", ran(5), queue.size
  [pid, Sidekiq::ProcessSet.new.first]
end

def times
  Named.perform_in(0.3, "soon")
  Named.perform_at(Time.now + 3600, "later")
  never = Named.perform_in(7200, "never")
  set = Sidekiq::ScheduledSet.new
  saw = [set.size, set.map { |one| one.args.first }, set.find_job(never).delete, set.scan("later").map(&:args)]
  saw << ran(6).last
  set.first.add_to_queue
  tell "schedules", *saw, ran(7).last, set.size
end

def failures
  Fails.perform_async("flaky")
  Fails.perform_async("by hand")
  set = Sidekiq::RetrySet.new
  eventually("no failures", ->(count) { count == 2 }) { set.size }
  told = set.map { |one| [one.args, one["retry_count"], one["error_class"], one["error_message"], one.at > Time.now + 500] }
  set.find { |one| one.args == ["flaky"] }.reschedule(Time.now)
  saw = [ran(8).last]
  set.first.retry
  tell "fails and tries again", told.sort, *saw, ran(9).last, set.size

  Hopeless.perform_async("buried")
  Forgotten.perform_async
  dead = Sidekiq::DeadSet.new
  eventually("nobody dead", ->(count) { count == 1 }) { dead.size }
  saw = dead.map { |one| [one.klass, one["error_message"]] }
  dead.first.retry
  tell "dies, and is raised", *saw, ran(10).last, dead.size, dead.clear
end

def deaths(pid, seen)
  alive = R.ttl(seen.identity).between?(1, 60)
  tell "tells of its process", seen["concurrency"], seen["queues"], seen["pid"] == pid, alive
  id = Stays.perform_async("stays")
  ran(11)
  Process.kill("TERM", pid)
  code = exit_code(pid)
  tell "gives back what it holds", code, Sidekiq::Queue.new.map(&:jid) == [id], Sidekiq::ProcessSet.new(false).size, sizes
  pid = process("default")
  saw = [ran(12).last]
  Sidekiq::ProcessSet.new.each(&:stop!)
  tell "does it anew, and is stopped", *saw, exit_code(pid), sizes
end

def leave
  Named.perform_async("unseen")
  Named.perform_in(600, "unseen")
  days = Sidekiq::Stats::History.new(2)
  saw = [days.processed.values.sum, days.failed.values.sum, Sidekiq::Queue.new.clear, Sidekiq::ScheduledSet.new.clear]
  Sidekiq::Stats.new.reset
  tell "clears", *saw, sizes, R.keys.grep_v(/^stat:|^tries:|:\h{12}$/).sort
end

pid, seen = plain
times
failures
deaths(pid, seen)
leave
