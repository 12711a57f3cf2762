// INFO's fields in a second form, Prometheus's: whatever INFO shows as a number is there, groups with labels.
#include <regex>
#include <string>

#include "exec/info/info_sections.h"
#include "support/command_test.h"
#include "support/prometheus.h"

namespace mayfly::testing {
namespace {

class InfoSinkTest : public CommandTest {
 public:
  // INFO everything as Prometheus would get it.
  std::string Metrics() {
    constexpr std::string_view kAll[] = {"everything"};
    PrometheusText sink;
    WriteInfo(sink, server().server, server().clock.Read(), kAll);
    return sink.Text();
  }
};

}  // namespace

TEST_CASE_METHOD(InfoSinkTest,
                 "INFO's numbers make a valid text for Prometheus, with labels for what they are about") {
  Run({"SET", "a", "v"});
  Run({"SET", "b", "v", "EX", "100"});
  Run({"GET", "a"});
  Run({"GET", "absent"});
  Run({"CONFIG", "GET", "port"});
  Run({"NOSUCH"});
  const std::string text = Metrics();
  CHECK(ProblemOfPrometheus(text).empty());
  CHECK(HasLine(text, "mayfly_keyspace_hits 1"));
  CHECK(HasLine(text, "mayfly_keyspace_misses 1"));
  CHECK(HasLine(text, "mayfly_total_error_replies 1"));
  CHECK(HasLine(text, "mayfly_cmdstat_calls{command=\"set\"} 2"));
  CHECK(HasLine(text, "mayfly_cmdstat_calls{command=\"get\"} 2"));
  CHECK(HasLine(text, "mayfly_cmdstat_calls{command=\"config|get\"} 1"));
  CHECK(HasLine(text, "mayfly_errorstat_count{code=\"ERR\"} 1"));
  CHECK(HasLine(text, "mayfly_db_keys{db=\"0\"} 2"));
  CHECK(HasLine(text, "mayfly_db_expires{db=\"0\"} 1"));
  CHECK(text.find("\nmayfly_latency_percentiles_usec_p99{command=\"get\"} ") != std::string::npos);
  // No texts, and bytes only once.
  CHECK(text.find("redis_version") == std::string::npos);
  CHECK(text.find("_human") == std::string::npos);
}

TEST_CASE("a label may have any bytes") {
  PrometheusText sink;
  const InfoMember members[] = {{"count", 1}};
  sink.Group({"errorstat_", "error", "a\"b\\c\nd"}, members);
  CHECK(sink.Text() ==
        "# TYPE mayfly_errorstat_count untyped\nmayfly_errorstat_count{error=\"a\\\"b\\\\c\\nd\"} 1\n");
  CHECK(ProblemOfPrometheus(sink.Text()).empty());
}

TEST_CASE_METHOD(InfoSinkTest, "every plain number of INFO's text is a metric with the same value") {
  Run({"SET", "k", "v"});
  LetTimePass(1'234);
  const std::string info = Run({"INFO", "expiry", "replication", "persistence", "clients"}).text;
  const std::string metrics = Metrics();
  static const std::regex kField(R"((\w+):(-?[0-9.]+)\r\n)");
  size_t fields = 0;
  for (std::sregex_iterator at(info.begin(), info.end(), kField); at != std::sregex_iterator(); ++at) {
    const std::string name = (*at)[1];
    if (name == "repl_backlog_size" || name.find("replid") != std::string::npos) continue;  // texts
    INFO(name);
    CHECK(HasLine(metrics, "mayfly_" + name + ' ' + (*at)[2].str()));
    ++fields;
  }
  CHECK(fields > 30);
}

TEST_CASE("the checker of Prometheus's format finds mistakes") {
  CHECK(ProblemOfPrometheus("# TYPE a untyped\na 1\n").empty());
  for (const char* wrong :
       {"", "a 1", "a 1\n", "# TYPE a untyped\nb 1\n", "# TYPE a untyped\na x\n",
        "# TYPE a untyped\na{b=\"\"c\"} 1\n", "# TYPE a untyped\na 1\na 1\n",
        "# TYPE a untyped\na 1\n# TYPE b untyped\nb 1\n# TYPE a untyped\n", "# TYPE 1a untyped\n"})
    CHECK_FALSE(ProblemOfPrometheus(wrong).empty());
}

}  // namespace mayfly::testing
