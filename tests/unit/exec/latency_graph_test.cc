// The pictures are those of redis-server 7.0.
#include "exec/info/latency_graph.h"

#include "support/catch.h"

namespace mayfly {
namespace {

const std::string kRuler = std::string(80, '-') + "\n";

TEST_CASE("a column is as high as its sample is above the lowest, and its age stands below it") {
  LatencyEvent event;
  int64_t second = 0;
  for (const uint64_t ms : {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130})
    event.Add({second++, ms});
  CHECK(LatencyGraph("command", event, 13) == "command - high 130 ms, low 10 ms (all time high 130 ms)\n" +
                                                  kRuler +
                                                  "         _o##\n"
                                                  "      _o#||||\n"
                                                  "   _o#|||||||\n"
                                                  "_o#||||||||||\n"
                                                  "             \n"
                                                  "1111987654321\n"
                                                  "3210sssssssss\n"
                                                  "ssss         \n");
}

TEST_CASE("equal samples lie on the ground") {
  LatencyEvent event;
  event.Add({100, 7});
  event.Add({160, 7});
  CHECK(LatencyGraph("e", event, 160 + 3 * 3600) == "e - high 7 ms, low 7 ms (all time high 7 ms)\n" +
                                                        kRuler +
                                                        "  \n"
                                                        "  \n"
                                                        "  \n"
                                                        "__\n"
                                                        "  \n"
                                                        "33\n"
                                                        "hh\n");
}

TEST_CASE("more than 80 samples are drawn in two pictures") {
  LatencyEvent event;
  for (int64_t s = 0; s < 81; ++s) event.Add({s * 86'400, 5});
  const std::string graph = LatencyGraph("e", event, 81 * 86'400);
  CHECK(graph.find("\n\n \n \n \n_\n \n1\nd\n") != std::string::npos);
  CHECK(graph.ends_with("_\n \n1\nd\n"));
}

}  // namespace
}  // namespace mayfly
