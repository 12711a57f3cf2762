// What an operator does to a running daemon and its clients.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/wire.h"
#include "support/catch.h"
#include "support/folder.h"

namespace mayfly {
namespace {

namespace fs = std::filesystem;

// The id of the connection, which must answer.
std::string IdOf(const Wire& wire) {
  REQUIRE(wire.Send(Request({"CLIENT", "ID"})));
  std::string id;
  for (std::string byte = wire.Read(1); byte != "\n"; byte = wire.Read(1)) id += byte;
  return id.substr(1, id.size() - 2);
}

TEST_CASE("CLIENT KILL closes a client's socket, whatever it is doing") {
  const Daemon daemon;
  Client operator_client(daemon);
  REQUIRE(operator_client.Run({"SET", "big", std::string(1'000'000, 'v')}) == "OK");
  const Wire idle = Wire::Tcp(daemon.port());
  const Wire paused = Wire::Tcp(daemon.port());
  const Wire unread = Wire::Tcp(daemon.port());
  const std::string ids[] = {IdOf(idle), IdOf(paused), IdOf(unread)};
  for (int i = 0; i < 50; ++i) REQUIRE(unread.Send(Request({"GET", "big"})));
  CHECK(Eventually([&] {
    return operator_client.Run({"CLIENT", "LIST", "ID", ids[2]}).find(" omem=0 ") == std::string::npos;
  }));
  CHECK(operator_client.Run({"CLIENT", "PAUSE", "1000000", "WRITE"}) == "OK");
  REQUIRE(paused.Send(Request({"SET", "k", "v"})));
  CHECK(Eventually([&] {
    return operator_client.Run({"CLIENT", "LIST", "ID", ids[1]}).find(" flags=b ") != std::string::npos;
  }));
  for (const std::string& id : ids) CHECK(operator_client.Run({"CLIENT", "KILL", "ID", id}) == ":1");
  CHECK(idle.ReadToEnd().empty());
  CHECK(paused.ReadToEnd().empty());
  CHECK(unread.ReadToEnd().size() < 50 * 1'000'000);
  CHECK(Eventually([&] { return operator_client.InfoNumber("connected_clients") == 1; }));
  CHECK(operator_client.Run({"CLIENT", "UNPAUSE"}) == "OK");
  CHECK(operator_client.Run({"EXISTS", "k"}) == ":0");
}

TEST_CASE("CLIENT LIST counts each client's bytes, big arguments and slow replies among them") {
  const Daemon daemon;
  Client operator_client(daemon);
  const Wire wire = Wire::Tcp(daemon.port());
  const auto field = [&](const std::string& id, const std::string& name) {
    const std::string line = operator_client.Run({"CLIENT", "LIST", "ID", id});
    const size_t from = line.find(" " + name + "=") + name.size() + 2;
    return std::stoull(line.substr(from, line.find_first_of(" \n", from) - from));
  };
  const std::string id = IdOf(wire);
  uint64_t sent = Request({"CLIENT", "ID"}).size();
  uint64_t got = (":" + id + "\r\n").size();
  CHECK(field(id, "tot-net-in") == sent);
  CHECK(Eventually([&] { return field(id, "tot-net-out") == got; }));
  CHECK(field(id, "tot-cmds") == 1);

  const std::string set = Request({"SET", "big", std::string(3'000'000, 'v')});
  REQUIRE(wire.Send(set));
  CHECK(wire.Read(5) == "+OK\r\n");
  sent += set.size();
  got += 5;
  CHECK(field(id, "tot-net-in") == sent);
  for (int i = 0; i < 5; ++i) REQUIRE(wire.Send(Request({"GET", "big"})));
  const size_t replies = 5 * std::string("$3000000\r\n").size() + 5 * 3'000'002;
  CHECK(wire.Read(replies).size() == replies);
  sent += 5 * Request({"GET", "big"}).size();
  got += replies;
  CHECK(Eventually([&] { return field(id, "tot-net-out") == got; }));
  CHECK(field(id, "tot-net-in") == sent);
  CHECK(field(id, "tot-cmds") == 7);
}

TEST_CASE("a client that kills itself reads its reply and then the end") {
  const Daemon daemon;
  const Wire wire = Wire::Tcp(daemon.port());
  REQUIRE(wire.Send(Request({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no"}) + Request({"PING"})));
  CHECK(wire.ReadToEnd() == ":1\r\n");
}

TEST_CASE("a pause ends by itself, and requests sent during it are answered in order") {
  const Daemon daemon;
  const Wire wire = Wire::Tcp(daemon.port());
  // Long enough that the server tells of it, which it does while only those who write are held back.
  Client operator_client(daemon);
  REQUIRE(operator_client.Run({"CLIENT", "PAUSE", "1000", "WRITE"}) == "OK");
  std::string requests, replies;
  for (int i = 0; i < 1000; ++i) {
    requests += Request({"INCR", "n"});
    replies += ":" + std::to_string(i + 1) + "\r\n";
  }
  REQUIRE(wire.Send(requests));
  CHECK(Eventually([&] { return operator_client.InfoNumber("blocked_clients") == 1; }));
  CHECK(operator_client.Run({"GET", "n"}) == "(nil)");
  CHECK(wire.Read(replies.size()) == replies);
}

TEST_CASE("with CLIENT REPLY OFF a whole pipeline runs and nothing is sent") {
  const Daemon daemon;
  const Wire wire = Wire::Tcp(daemon.port());
  std::string requests = Request({"CLIENT", "REPLY", "OFF"});
  for (int i = 0; i < 10'000; ++i) requests += Request({"INCR", "n"});
  requests += Request({"CLIENT", "REPLY", "ON"}) + Request({"GET", "n"}) + Request({"QUIT"});
  REQUIRE(wire.Send(requests));
  CHECK(wire.ReadToEnd() == "+OK\r\n$5\r\n10000\r\n+OK\r\n");
}

TEST_CASE("QUIT and a broken request close a connection also after CLIENT REPLY OFF") {
  const Daemon daemon;
  for (const char* mode : {"OFF", "SKIP"}) {
    for (const std::string& last : {Request({"QUIT"}), std::string("*x\r\n")}) {
      const Wire wire = Wire::Tcp(daemon.port());
      REQUIRE(wire.Send(Request({"PING"}) + Request({"CLIENT", "REPLY", mode}) + last));
      CHECK(wire.ReadToEnd() == "+PONG\r\n");
    }
  }
}

TEST_CASE(
    "SYNC after REPLCONF rdb-only sends a snapshot as the client reads it, and then closes the client") {
  const Daemon daemon({"--enable-debug-command", "yes", "--rdbcompression", "no"});
  Client client(daemon);
  CHECK(client.Run({"DEBUG", "POPULATE", "50000", "key", "500"}) == "OK");
  const Wire reader = Wire::Tcp(daemon.port());
  CHECK(reader.Ask("REPLCONF rdb-only 1\r\nSYNC\r\n", "+OK\r\n$EOF:") == "+OK\r\n$EOF:");
  constexpr size_t kMark = 40;
  const std::string mark = reader.Read(kMark);
  CHECK(reader.Read(2) == "\r\n");
  // Nobody reads on: others are served, and the snapshot waits.
  CHECK(client.Run({"SET", "key:1", "changed"}) == "OK");
  CHECK(client.Run({"BGSAVE"}) == "-ERR Background save already in progress");
  const std::string rest = reader.ReadToEnd();
  CHECK((rest.size() > 25'000'000 && rest.ends_with(mark)));
  const std::string path = daemon.directory() + "/copy.rdb";
  std::ofstream(path, std::ios::binary) << rest.substr(0, rest.size() - kMark);
  const Ended check = Daemon::RunToEnd({"--check-rdb", path});
  CHECK(check.exit_code == 0);
  CHECK(check.output.find("\nkeys: 50000\n") != std::string::npos);
  CHECK(check.output.find("\nchecksum: OK\n") != std::string::npos);
  CHECK(Eventually([&] { return client.Info("rdb_bgsave_in_progress") == "0"; }));
  // One that leaves ends its snapshot.
  {
    const Wire leaver = Wire::Tcp(daemon.port());
    CHECK(leaver.Ask("REPLCONF rdb-only 1\r\nSYNC\r\n", "+OK\r\n$EOF:") == "+OK\r\n$EOF:");
  }
  CHECK(Eventually([&] { return client.Run({"BGSAVE"}) == "Background saving started"; }));
}

TEST_CASE("CONFIG REWRITE changes the file that the daemon was started with, and leaves no other file") {
  const Folder folder;
  const std::string file = folder / "my.conf";
  std::ofstream(file) << "# mine\ntimeout 300\n";
  constexpr fs::perms kMode = fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read;
  fs::permissions(file, kMode);
  {
    const Daemon daemon({file});
    Client client(daemon);
    CHECK(client.Run({"CONFIG", "SET", "timeout", "301", "maxkeys", "7"}) == "OK");
    CHECK(client.Run({"CONFIG", "REWRITE"}) == "OK");
    CHECK(client.Info("config_file") == file);
  }
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  CHECK(text.str() == "# mine\ntimeout 301\n\n# Written by CONFIG REWRITE\nmaxkeys 7\n");
  CHECK(fs::status(file).permissions() == kMode);
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
  CHECK(Client(Daemon({file})).Run({"CONFIG", "GET", "maxkeys"}) == "[maxkeys 7]");
}

TEST_CASE("rename-command removes and renames commands, and the daemon does not start if it cannot") {
  const Daemon daemon({"--rename-command", "FLUSHALL", "", "--rename-command", "CONFIG", "hidden"});
  Client client(daemon);
  CHECK(client.Run({"FLUSHALL"}).starts_with("-ERR unknown command"));
  CHECK(client.Run({"CONFIG", "GET", "port"}).starts_with("-ERR unknown command"));
  CHECK(client.Run({"HIDDEN", "GET", "databases"}) == "[databases 16]");
  const Ended ended = Daemon::RunToEnd({"--port", "0", "--rename-command", "NOPE", "x"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.output == "mayfly: --rename-command NOPE x: No such command in rename-command\n");
}

TEST_CASE("a renaming that is impossible is reported with its line before anything starts") {
  const Folder folder;
  const std::string file = folder / "my.conf";
  std::ofstream(file) << "port 0\nrename-command GET g\nrename-command SET DEL\n";
  const Ended ended = Daemon::RunToEnd({file});
  CHECK(ended.exit_code == 1);
  CHECK(ended.output ==
        "mayfly: " + file + ":3: rename-command SET DEL: Target command name already exists\n");
}

}  // namespace
}  // namespace mayfly
