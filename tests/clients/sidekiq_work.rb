# The jobs that sidekiq_jobs.rb gives to processes of Sidekiq. REDIS_URL is its server.
require "sidekiq"

# Seconds between two looks of the scheduler for jobs that are due. Without this option it waits 10 s before the first one.
Sidekiq.options[:poll_interval_average] = 0.2

def ran(name)
  Sidekiq.redis { |redis| redis.rpush("ran", name) }
end

class Named
  include Sidekiq::Job
  def perform(name, *_)
    ran(name)
  end
end

class Fails
  include Sidekiq::Job
  sidekiq_options retry: 3
  sidekiq_retry_in { 600 }
  def perform(name)
    tries = Sidekiq.redis { |redis| redis.incr("tries:#{name}") }
    raise ArgumentError, "try #{tries} of #{name}" if tries < 2

    ran(name)
  end
end

class Hopeless
  include Sidekiq::Job
  sidekiq_options retry: 0
  def perform(name)
    tries = Sidekiq.redis { |redis| redis.incr("tries:#{name}") }
    raise "never" if tries < 2

    ran(name)
  end
end

class Forgotten
  include Sidekiq::Job
  sidekiq_options retry: false
  def perform
    raise "forgotten"
  end
end

# The first time it runs until it is stopped, and then it returns at once.
class Stays
  include Sidekiq::Job
  def perform(name)
    ran(name)
    sleep if Sidekiq.redis { |redis| redis.incr("stays") } == 1
  end
end
