// bench_client: the load generator and latency probe of scripts/bench. See modes.h.
#include <CLI/CLI.hpp>

#include "modes.h"

namespace {

using namespace mayfly::bench;

void AddStampede(CLI::App& app, StampedeOptions& stampede) {
  CLI::App* const mode = app.add_subcommand("stampede", "many callers that miss one key");
  mode->add_option("port", stampede.port)->required();
  mode->add_option("--way", stampede.way)->check(CLI::IsMember({"get", "lock", "take", "early", "stale"}));
  mode->add_option("--connections", stampede.connections)->check(CLI::PositiveNumber);
  mode->add_option("--compute-ms", stampede.compute_ms)->check(CLI::PositiveNumber);
  mode->add_option("--ttl-ms", stampede.ttl_ms)->check(CLI::PositiveNumber);
  mode->add_option("--pause-ms", stampede.pause_ms)->check(CLI::PositiveNumber);
  mode->add_option("--seconds", stampede.seconds)->check(CLI::PositiveNumber);
  mode->add_option("--value-bytes", stampede.value_bytes);
  mode->callback([&stampede] { RunStampede(stampede); });
}

void AddHold(CLI::App& app, HoldOptions& hold) {
  CLI::App* const mode = app.add_subcommand("hold", "hold idle connections");
  mode->add_option("port", hold.port)->required();
  mode->add_option("--connections", hold.connections)->required();
  mode->callback([&hold] { Hold(hold); });
}

void AddStorm(CLI::App& app, StormOptions& storm) {
  CLI::App* const mode = app.add_subcommand("storm", "connect all at once");
  mode->add_option("port", storm.port)->required();
  mode->add_option("--connections", storm.connections)->check(CLI::PositiveNumber);
  mode->add_option("--give-up-ms", storm.give_up_ms)->check(CLI::PositiveNumber);
  mode->callback([&storm] { Storm(storm); });
}

void AddListen(CLI::App& app, ListenOptions& listen) {
  CLI::App* const mode = app.add_subcommand("listen", "measure how late messages come");
  mode->add_option("port", listen.port)->required();
  mode->add_option("--channel", listen.channel)->required();
  mode->add_option("--at-ms", listen.at_ms, "when they are due, on the wall clock")->required();
  mode->add_option("--expect", listen.expect)->required()->check(CLI::PositiveNumber);
  mode->add_option("--give-up-ms", listen.give_up_ms);
  mode->callback([&listen] { Listen(listen); });
}

void AddTasks(CLI::App& app, TasksOptions& tasks) {
  CLI::App* const mode = app.add_subcommand("tasks", "schedule tasks, and take them from their stream");
  mode->add_option("port", tasks.port)->required();
  mode->add_option("--tasks", tasks.tasks)->check(CLI::PositiveNumber);
  mode->add_option("--value-bytes", tasks.value_bytes);
  mode->add_option("--lead-ms", tasks.lead_ms)->check(CLI::PositiveNumber);
  mode->add_option("--spread-ms", tasks.spread_ms)->check(CLI::PositiveNumber);
  mode->add_option("--give-up-ms", tasks.give_up_ms)->check(CLI::PositiveNumber);
  mode->add_option("--herd", tasks.herd);
  mode->callback([&tasks] { RunTasks(tasks); });
}

void AddProbe(CLI::App& app, ProbeOptions& probe) {
  CLI::App* const mode = app.add_subcommand("probe", "ask 1,000 times a second and measure the waits");
  mode->add_option("port", probe.port)->required();
  mode->add_option("--seconds", probe.seconds);
  mode->add_option("--until-gone", probe.until_gone, "wall-clock ms; until it has passed and no key is left");
  mode->add_option("--below-bytes", probe.below_bytes, "... and used_memory is at most this");
  mode->add_option("--until-eof", probe.until_eof, "until standard input ends");
  mode->add_option("--give-up-ms", probe.give_up_ms);
  mode->callback([&probe] { Probe(probe); });
}

void AddVolley(CLI::App& app, VolleyOptions& volley) {
  CLI::App* const mode =
      app.add_subcommand("volley", "requests over a unix socket, as memtier_benchmark sends them");
  mode->add_option("path", volley.path)->required();
  mode->add_option("--command", volley.command)->check(CLI::IsMember({"get", "set"}));
  mode->add_option("--connections", volley.connections)->check(CLI::PositiveNumber);
  mode->add_option("--depth", volley.depth)->check(CLI::PositiveNumber);
  mode->add_option("--requests", volley.requests, "of each connection")
      ->required()
      ->check(CLI::PositiveNumber);
  mode->add_option("--keys", volley.keys, "of each connection")->check(CLI::PositiveNumber);
  mode->add_option("--value-bytes", volley.value_bytes, "A or A-B");
  mode->add_option("--memcached", volley.memcached, "1: memcached's text protocol");
  mode->callback([&volley] { RunVolley(volley); });
}

void AddTraffic(CLI::App& app, TrafficOptions& traffic) {
  CLI::App* const mode =
      app.add_subcommand("traffic", "ask at a steady rate, also while a server goes and comes");
  mode->add_option("port", traffic.port)->required();
  mode->add_option("--connections", traffic.connections)->check(CLI::PositiveNumber);
  mode->add_option("--rate", traffic.rate)->check(CLI::PositiveNumber);
  mode->add_option("--write-share", traffic.write_share)->check(CLI::Range(0.0, 1.0));
  mode->add_option("--keys", traffic.keys)->required()->check(CLI::PositiveNumber);
  mode->add_option("--exponent", traffic.exponent)->check(CLI::NonNegativeNumber);
  mode->add_option("--seed", traffic.seed);
  mode->add_option("--value-bytes", traffic.value_bytes);
  mode->add_option("--write", traffic.write, "forms with {k} and {m}, \" ; \" between them, instead of SET");
  mode->add_option("--members", traffic.members)->check(CLI::PositiveNumber);
  mode->add_option("--slice-ms", traffic.slice_ms)->check(CLI::PositiveNumber);
  mode->callback([&traffic] { RunTraffic(traffic); });
}

void AddPace(CLI::App& app, PaceOptions& pace) {
  CLI::App* const mode =
      app.add_subcommand("pace", "ask at random times, and measure from when a request was due");
  mode->add_option("port", pace.port)->required();
  mode->add_option("--connections", pace.connections)->check(CLI::PositiveNumber);
  mode->add_option("--rate", pace.rate)->check(CLI::PositiveNumber);
  mode->add_option("--seconds", pace.seconds)->check(CLI::PositiveNumber);
  mode->add_option("--warm-up", pace.warm_up)->check(CLI::NonNegativeNumber);
  mode->add_option("--write-share", pace.write_share)->check(CLI::Range(0.0, 1.0));
  mode->add_option("--keys", pace.keys)->required()->check(CLI::PositiveNumber);
  mode->add_option("--exponent", pace.exponent)->check(CLI::NonNegativeNumber);
  mode->add_option("--seed", pace.seed);
  mode->add_option("--value-bytes", pace.value_bytes);
  mode->add_option("--ttl-ms", pace.ttl_ms);
  mode->add_option("--new-keys", pace.new_keys);
  mode->add_option("--beside", pace.beside, "a request, beside the others");
  mode->add_option("--beside-ms", pace.beside_ms)->check(CLI::PositiveNumber);
  mode->add_option("--syncs", pace.syncs);
  mode->callback([&pace] { RunPace(pace); });
}

void AddLoad(CLI::App& app, LoadOptions& load) {
  CLI::App* const mode = app.add_subcommand("load", "insert keys");
  mode->add_option("port", load.port)->required();
  mode->add_option("--keys", load.keys)->required();
  mode->add_option("--first", load.first);
  mode->add_option("--value-bytes", load.value_bytes, "A or A-B");
  mode->add_option("--ttl-ms", load.ttl_ms, "A or A-B; 0 for none");
  mode->add_option("--at-ms", load.at_ms, "one deadline of the wall clock for all keys");
  mode->add_option("--request", load.request, "for each member: words with {k} and {m} for numbers");
  mode->add_option("--members", load.members, "of each key")->check(CLI::PositiveNumber);
  mode->add_option("--noise", load.noise, "1: values that do not compress");
  mode->callback([&load] { Load(load); });
}

void AddAsk(CLI::App& app, AskOptions& ask) {
  CLI::App* const mode = app.add_subcommand("ask", "send requests for random keys over many connections");
  mode->add_option("port", ask.port)->required();
  mode->add_option("--command", ask.command)->check(CLI::IsMember({"get", "set", "setex"}));
  mode->add_option("--connections", ask.connections)->check(CLI::PositiveNumber);
  mode->add_option("--depth", ask.depth)->check(CLI::PositiveNumber);
  CLI::Option_group* const amount = mode->add_option_group("amount");
  amount->add_option("--requests", ask.requests);
  amount->add_option("--seconds", ask.seconds, "send for so long instead")->check(CLI::PositiveNumber);
  amount->require_option(1);
  mode->add_option("--keys", ask.keys)->required()->check(CLI::PositiveNumber);
  mode->add_option("--value-bytes", ask.value_bytes);
  mode->add_option("--request", ask.request,
                   "instead of a command: forms with {k} and {m}, \" ; \" between them");
  mode->add_option("--members", ask.members)->check(CLI::PositiveNumber);
  mode->callback([&ask] { Ask(ask); });
}

void AddDeliver(CLI::App& app, DeliverOptions& deliver) {
  CLI::App* const mode = app.add_subcommand("deliver", "publish messages to subscribers");
  mode->add_option("port", deliver.port)->required();
  mode->add_option("--subscribers", deliver.subscribers)->check(CLI::PositiveNumber);
  mode->add_option("--patterns", deliver.patterns, "in all, instead of one channel");
  mode->add_option("--suffixes", deliver.suffixes, "patterns that begin with the wildcard");
  mode->add_option("--depth", deliver.depth)->check(CLI::PositiveNumber);
  mode->add_option("--messages", deliver.messages)->required();
  mode->add_option("--value-bytes", deliver.value_bytes);
  mode->callback([&deliver] { Deliver(deliver); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Load and latency for servers that speak the Redis protocol, on this machine");
  app.require_subcommand(1);

  LoadOptions load;
  AddLoad(app, load);

  AskOptions ask;
  AddAsk(app, ask);

  ProbeOptions probe;
  AddProbe(app, probe);

  HoldOptions hold;
  AddHold(app, hold);

  DeliverOptions deliver;
  AddDeliver(app, deliver);

  StormOptions storm;
  AddStorm(app, storm);

  ListenOptions listen;
  AddListen(app, listen);

  StampedeOptions stampede;
  AddStampede(app, stampede);

  TasksOptions tasks;
  AddTasks(app, tasks);

  VolleyOptions volley;
  AddVolley(app, volley);

  TrafficOptions traffic;
  AddTraffic(app, traffic);

  PaceOptions pace;
  AddPace(app, pace);

  CLI11_PARSE(app, argc, argv);
  return 0;
}
