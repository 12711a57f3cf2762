#include "support/command_test.h"

namespace mayfly::testing {
namespace {

// The fields of one line in their order, each as "name" or, where the test fixes it, "name=value".
std::vector<std::string> NamesOf(const std::string& line) {
  std::vector<std::string> names;
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find_first_of(" \n", at), line.size());
    const std::string field = line.substr(at, end - at);
    names.push_back(field.substr(0, field.find('=')));
    at = end + 1;
  }
  return names;
}

std::string FieldOf(const std::string& line, const std::string& name) {
  const size_t at = (" " + line).find(" " + name + "=");
  if (at == std::string::npos) return "(none)";
  const size_t from = at + name.size() + 1;
  return line.substr(from, line.find_first_of(" \n", from) - from);
}

}  // namespace

TEST_CASE_METHOD(CommandTest, "CLIENT INFO shows the fields of Redis 7.4 in its order, then the traffic") {
  const std::vector<std::string> fields = {
      "id",    "addr",      "laddr",    "fd",         "name",        "age",     "idle",
      "flags", "db",        "sub",      "psub",       "ssub",        "multi",   "watch",
      "qbuf",  "qbuf-free", "argv-mem", "multi-mem",  "rbs",         "rbp",     "obl",
      "oll",   "omem",      "tot-mem",  "events",     "cmd",         "user",    "redir",
      "resp",  "lib-name",  "lib-ver",  "tot-net-in", "tot-net-out", "tot-cmds"};
  const Reply info = Run({"CLIENT", "INFO"});
  CHECK(NamesOf(info.text) == fields);
  CHECK(info.text.back() == '\n');
  UseResp3();
  const Reply verbatim = Run({"CLIENT", "INFO"});
  CHECK(verbatim.kind == Reply::Kind::kVerbatim);
  CHECK(verbatim.text.starts_with("txt:id="));
  CHECK(FieldOf(verbatim.text, "resp") == "3");
}

TEST_CASE_METHOD(CommandTest, "CLIENT INFO shows what the client is called and what it does") {
  Session& session = client().session();
  session.peer = "10.0.0.1:5001";
  session.local = SharedBytes::Copy("10.0.0.2:6379");
  session.fd = 9;
  session.created_mono_ms = server().clock.Read().mono_ms;
  Run({"CLIENT", "SETNAME", "worker"});
  Run({"CLIENT", "SETINFO", "LIB-NAME", "lib"});
  Run({"CLIENT", "SETINFO", "LIB-VER", "1.2"});
  AdvanceTime(3000);
  Run({"SELECT", "3"});
  AdvanceTime(5999);
  const std::string line = Run({"CLIENT", "INFO"}).text;
  for (const auto& [name, value] : {std::pair{"id", std::to_string(session.id)},
                                    {"addr", "10.0.0.1:5001"},
                                    {"laddr", "10.0.0.2:6379"},
                                    {"fd", "9"},
                                    {"name", "worker"},
                                    {"age", "8"},
                                    {"idle", "5"},
                                    {"flags", "N"},
                                    {"db", "3"},
                                    {"cmd", "client|info"},
                                    {"user", "default"},
                                    {"redir", "-1"},
                                    {"resp", "2"},
                                    {"multi", "-1"},
                                    {"lib-name", "lib"},
                                    {"lib-ver", "1.2"}}) {
    INFO(name);
    CHECK(FieldOf(line, name) == value);
  }
}

TEST_CASE_METHOD(CommandTest, "CLIENT LIST shows a line for each client, in the order of their ids") {
  TestClient& other = Connect();
  const std::string mine = "id=" + std::to_string(client().session().id) + " ";
  const std::string others = "id=" + std::to_string(other.session().id) + " ";
  const std::string all = Run({"CLIENT", "LIST"}).text;
  CHECK(all.find(mine) < all.find("\n" + others));
  CHECK(std::count(all.begin(), all.end(), '\n') == 2);
  CHECK(Run({"CLIENT", "LIST", "TYPE", "NORMAL"}).text.starts_with(mine));
  for (const char* type : {"replica", "slave", "MASTER", "pubsub"})
    CHECK(Run({"CLIENT", "LIST", "TYPE", type}) == Bulk(""));
  const std::string id = std::to_string(other.session().id);
  CHECK(Run({"CLIENT", "LIST", "ID", id}).text.starts_with(others));
  CHECK(Run({"CLIENT", "LIST", "ID", "987654", "-1"}) == Bulk(""));
  const Reply twice = Run({"CLIENT", "LIST", "ID", id, id});
  CHECK(twice.text == Run({"CLIENT", "LIST", "ID", id}).text + Run({"CLIENT", "LIST", "ID", id}).text);
}

TEST_CASE_METHOD(
    CommandTest,
    "CLIENT LIST shows what a client holds: replies that wait, and arguments of a held request") {
  TestClient& other = Connect();
  const auto line = [&] { return Run({"CLIENT", "LIST", "ID", std::to_string(other.session().id)}).text; };
  for (const char* field : {"argv-mem", "obl", "oll", "omem"}) CHECK(FieldOf(line(), field) == "0");
  CHECK(FieldOf(line(), "events") == "r");
  const uint64_t empty = std::stoull(FieldOf(line(), "tot-mem"));
  Run({"CLIENT", "PAUSE", "10", "WRITE"});
  other.Run({"SET", "key", "value"});
  CHECK(FieldOf(line(), "argv-mem") == "11");
  AdvanceTime(10);
  other.Received();
  CHECK(FieldOf(line(), "argv-mem") == "0");
  const std::string reply(3 * OutputChunk::kSize, 'x');
  other.session().output.Append(reply);
  CHECK(FieldOf(line(), "obl") == std::to_string(reply.size()));
  CHECK(std::stoull(FieldOf(line(), "oll")) >= 3);
  CHECK(std::stoull(FieldOf(line(), "omem")) >= reply.size());
  CHECK(std::stoull(FieldOf(line(), "tot-mem")) >= empty + reply.size());
  CHECK(FieldOf(line(), "events") == "rw");
  other.session().output.Consume(reply.size());
}

TEST_CASE_METHOD(CommandTest, "tot-cmds counts what ran to its end for this client, in a pipeline too") {
  TestClient& other = Connect();
  const auto count_of = [&](TestClient& client) {
    return FieldOf(Run({"CLIENT", "LIST", "ID", std::to_string(client.session().id)}).text, "tot-cmds");
  };
  CHECK(count_of(client()) == "0");
  CHECK(count_of(client()) == "1");
  CHECK(count_of(other) == "0");
  const std::string info = EncodeRequest({"CLIENT", "INFO"});
  const std::vector<Reply> replies =
      TakeReplies(other.RunRaw("PING\r\nGET k\r\n" + info + "SET k v\r\n" + info + "PING\r\n"));
  CHECK(FieldOf(replies.at(2).text, "tot-cmds") == "2");
  CHECK(FieldOf(replies.at(4).text, "tot-cmds") == "4");
  CHECK(count_of(other) == "6");
  other.RunRaw("NOSUCH\r\nGET\r\n");  // refused before it ran
  CHECK(count_of(other) == "6");
  other.RunRaw("SELECT x\r\n");  // its handler refused it
  CHECK(count_of(other) == "7");
  Run({"CLIENT", "PAUSE", "100", "WRITE"});
  other.RunRaw("SET k v\r\nSET k v\r\n");
  CHECK(count_of(other) == "7");
  Run({"CLIENT", "UNPAUSE"});
  CHECK(count_of(other) == "9");
}

TEST_CASE_METHOD(CommandTest, "CLIENT LIST refuses what it does not know, in Redis's words") {
  CHECK(Run({"CLIENT", "LIST", "TYPE", "foo"}) == Error("ERR Unknown client type 'foo'"));
  for (const std::vector<std::string>& ids :
       {std::vector<std::string>{"abc"}, {"1", "abc"}, {"1", "TYPE"}, {"1", "2", "3", ""}}) {
    std::vector<std::string> request{"CLIENT", "LIST", "ID"};
    request.insert(request.end(), ids.begin(), ids.end());
    CHECK(Run(request) == Error("ERR Invalid client ID"));
  }
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"TYPE"}, {"ID"}, {"TYPE", "normal", "x"}, {"FOO", "x"}}) {
    std::vector<std::string> request{"CLIENT", "LIST"};
    request.insert(request.end(), words.begin(), words.end());
    CHECK(Run(request) == Error("ERR syntax error"));
  }
}

TEST_CASE_METHOD(CommandTest, "CLIENT GETREDIR answers that no other client gets invalidations") {
  CHECK(Run({"CLIENT", "GETREDIR"}) == Integer(-1));
}

TEST_CASE_METHOD(CommandTest, "flags show a client that waits, one that is being closed, and its modes") {
  TestClient& other = Connect();
  const auto flags = [&] {
    return FieldOf(Run({"CLIENT", "LIST", "ID", std::to_string(other.session().id)}).text, "flags");
  };
  CHECK(other.Run({"CLIENT", "NO-EVICT", "ON"}) == Ok());
  CHECK(other.Run({"CLIENT", "NO-TOUCH", "on"}) == Ok());
  CHECK(flags() == "eT");
  CHECK(other.Run({"CLIENT", "NO-EVICT", "off"}) == Ok());
  CHECK(other.Run({"CLIENT", "NO-TOUCH", "OFF"}) == Ok());
  CHECK(flags() == "N");
  CHECK(other.Run({"CLIENT", "NO-TOUCH", "maybe"}) == Error("ERR syntax error"));
  CHECK(other.Run({"CLIENT", "NO-EVICT", "maybe"}) == Error("ERR syntax error"));
  other.session().over_unix_socket = true;
  CHECK(flags() == "U");
  Run({"CLIENT", "PAUSE", "10", "WRITE"});
  CHECK(other.Run({"SET", "k", "v"}) == NoReply());
  CHECK(flags() == "bU");
  Run({"CLIENT", "KILL", "ID", std::to_string(other.session().id)});
  CHECK(flags() == "bAU");
  TestClient& leaving = Connect();
  leaving.Run({"QUIT"});
  const std::string list = Run({"CLIENT", "LIST", "ID", std::to_string(leaving.session().id)}).text;
  CHECK(FieldOf(list, "flags") == "c");
}

}  // namespace mayfly::testing
