# What the Ruby drivers share: the transcript, and waits with a limit. Arguments of a driver: port, password.
require "json"

WAITS_S = 60
PAUSE_S = 0.005

# A value as JSON that shows its type.
def shown(value)
  case value
  when nil, true, false, Integer then value
  when String then { bytes: value.dup.force_encoding("ISO-8859-1").encode("UTF-8") }
  when Float then { float: value.to_s }
  when Hash then { map: value.sort.map { |k, v| [shown(k), shown(v)] } }
  when Array then value.map { |item| shown(item) }
  when Exception then { error: value.class.name, text: value.message }
  else { other: value.class.name, text: value.inspect }
  end
end

def tell(step, *values)
  puts JSON.generate(step: step, saw: shown(values))
  $stdout.flush
end

def expect(truth, text)
  abort text unless truth
end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

# Repeats the block, with short pauses, until `accepts` is true of its value, and returns that. Exits after WAITS_S.
def eventually(text, accepts, &call)
  ends = now + WAITS_S
  loop do
    value = call.call
    return value if accepts.call(value)

    expect(now < ends, "#{text}: #{value.inspect}")
    sleep PAUSE_S
  end
end
