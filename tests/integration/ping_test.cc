// mayfly --ping: what health checks run.
#include "integration/ping.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "support/catch.h"
#include "support/certificates.h"
#include "support/folder.h"
#include "support/free_port.h"

#include <sys/stat.h>

namespace mayfly {
TEST_CASE("--ping answers PONG for a daemon that serves, by its port, a variable or its unix socket") {
  const Daemon daemon;
  const std::string port = std::to_string(daemon.port());
  CheckPong(Ping({"--port", port}));
  CheckPong(Ping({"--host=localhost", "--port=" + port}));
  CheckPong(Ping({}, {"MAYFLY_PORT=" + port}));
  CheckPong(Ping({"--socket", daemon.unix_socket()}));
  CheckPong(Ping({"--port", "0", "--unixsocket", daemon.unix_socket()}));
  std::ofstream(daemon.directory() + "/my.conf") << "port " << port << "\nbind 127.0.0.1\n";
  CheckPong(Ping({daemon.directory() + "/my.conf"}));
}

TEST_CASE("--ping says what is wrong if nobody answers PONG") {
  const Folder folder;
  const std::string port = std::to_string(FreePort());
  CheckFails(Ping({"--port", port}), "127.0.0.1, port " + port + ": Connection refused");
  CheckFails(Ping({"--socket", folder / "none"}), "No such file or directory");
  CheckFails(Ping({"--port", "0"}), "there is no port");
  CheckFails(Ping({"--port", "x"}), "--port: argument couldn't be parsed");
  CheckFails(Ping({"--wait", "soon"}), "--wait must be a number of milliseconds");
  CheckFails(Ping({"--nonsense", "1"}), "unknown flag '--nonsense'");
  CheckFails(Ping({"--user"}), "--user needs a value");
  CHECK(Ping({"--help"}).output.starts_with("mayfly --ping [conf-file]"));
  CHECK(Daemon::RunToEnd({"--port", "0", "--ping"}).output ==
        "mayfly: --ping stands before all other words\n");
}

TEST_CASE("--ping logs in with a password of a file, of a variable or of the conf file") {
  const Folder folder;
  const Daemon daemon({"--requirepass", "secret"});
  Client client(daemon);
  CHECK(client.Run({"AUTH", "secret"}) == "OK");
  CHECK(client.Run({"ACL", "SETUSER", "app", "on", ">hush", "+ping"}) == "OK");
  const std::string port = std::to_string(daemon.port());
  std::ofstream(folder / "pass") << "secret\n";
  std::ofstream(folder / "hush") << "hush\n";
  CheckPong(Ping({"--port", port, "--pass-file", folder / "pass"}));
  CheckPong(Ping({"--port", port, "--user", "app", "--pass-file", folder / "hush"}));
  CheckPong(Ping({"--port", port}, {"MAYFLY_REQUIREPASS_FILE=" + (folder / "pass")}));
  CheckPong(Ping({"--port", port}, {"REDISCLI_AUTH=secret"}));
  CheckPong(Ping({"--port", port, "--any-answer"}));
  CheckFails(Ping({"--port", port}), "NOAUTH Authentication required.");
  CheckFails(Ping({"--port", port, "--user", "app", "--pass-file", folder / "pass"}), "WRONGPASS");
  CheckFails(Ping({"--port", port, "--pass-file", folder / "none"}), "No such file or directory");
}

TEST_CASE("--ping finds a daemon that has a TLS port alone") {
  const Folder folder;
  const testing::Certificates files(folder.path());
  const std::string port = std::to_string(FreePort());
  const std::vector<std::string> tls = {
      "--tls-port",         port,    "--tls-cert-file", files.server, "--tls-key-file", files.server_key,
      "--tls-ca-cert-file", files.ca};
  std::vector<std::string> options = tls;
  options.insert(options.end(), {"--port", "0"});
  const Daemon daemon(options);
  CheckPong(Ping(options));
  CheckPong(Ping({"--tls", "--tls-port", port, "--host", "localhost", "--tls-ca-cert-file", files.ca,
                  "--tls-cert-file", files.client, "--tls-key-file", files.client_key}));
  CheckFails(Ping({"--tls", "--tls-port", port, "--host", "127.0.0.1", "--tls-ca-cert-file", files.ca,
                   "--tls-cert-file", files.client, "--tls-key-file", files.client_key}),
             "the server's certificate: ");
  CheckPong(Ping({"--tls", "--tls-port", port, "--host", "127.0.0.1", "--server-name", "localhost",
                  "--tls-ca-cert-file", files.ca, "--tls-cert-file", files.client, "--tls-key-file",
                  files.client_key}));
  CheckFails(Ping({"--tls", "--tls-port", port}), "port " + port + ": TLS");  // it has no certificate
  CheckFails(Ping({"--port", port, "--wait", "200"}), "port " + port + ": ");
}

TEST_CASE("--ping does not wait for ever") {
  const Daemon daemon;
  daemon.Signal(SIGSTOP);
  CheckFails(Ping({"--port", std::to_string(daemon.port()), "--wait", "50"}), "no answer within 50 ms");
  daemon.Signal(SIGCONT);
}

TEST_CASE("the image's entry point takes a first word redis-server for the daemon") {
  const Folder folder;
  std::ofstream(folder / "mayfly") << "#!/bin/sh\nexec " + DaemonProgram() + " \"$@\"\n";
  const std::string run = "chmod 755 " + (folder / "mayfly") + "; PATH=" + folder.path() +
                          ":$PATH sh " MAYFLY_SOURCE_DIR "/conf/entrypoint.sh ";
  const auto output = [&](const std::string& words) {
    const std::string file = folder / "output";
    CHECK(std::system((run + words + " >" + file + " 2>&1").c_str()) != -1);
    std::ifstream text(file);
    return std::string(std::istreambuf_iterator<char>(text), {});
  };
  const std::string version = output("--version");
  CHECK(version.starts_with("Mayfly server v="));
  for (const char* name : {"redis-server", "valkey-server", "mayfly"})
    CHECK(output(std::string(name) + " --version") == version);
  CHECK(output("redis-server --nonsense 1") == "mayfly: unknown flag '--nonsense'\n");
  CHECK(output("nonsense.conf").starts_with("mayfly: nonsense.conf: No such file"));
}

// Redis saves with a file that has no line `save`.
const std::string kNoSave =
    "warning: nothing will be saved: the file has no line 'save'. Redis would then save by itself "
    "(save 3600 1 300 100 60 10000), and Mayfly does not\n";

TEST_CASE("--check-config says that nothing will be saved if a redis.conf has no line for it") {
  const Folder folder;
  const std::string file = folder / "redis.conf";
  const auto check = [&](const std::string& text) {
    std::ofstream(file) << text;
    return Daemon::RunToEnd({"--check-config", file});
  };
  const std::string good = file + ": no problems\n";
  CHECK(check("maxmemory 100mb\n").output == kNoSave + good);
  CHECK(check("maxmemory 100mb\n").exit_code == 0);
  for (const char* line : {"save 3600 1\n", "save \"\"\n", "save\n"}) CHECK(check(line).output == good);
}

TEST_CASE("--check-config goes on after a problem, and says all of them") {
  const Folder folder;
  const std::string file = folder / "my.conf";
  const auto check = [&](const std::string& text) {
    std::ofstream(file) << "save 60 1\n" << text;
    return Daemon::RunToEnd({"--check-config", file}).output;
  };
  const auto has = [](const std::string& output, const std::string& line) {
    return ("\n" + output).find("\n" + line) != std::string::npos;
  };
  const std::string all = check(
      "dir /none\nuser ann on +nosuch\nuser bob on +nosuch\nrename-command NOSUCH x\n"
      "rename-command NEITHER y\nbind 300.1.2.3 300.1.2.4\nlogfile /none/my.log\ntls-port 7\ntls-cert-file "
      "/none\nport x\n");
  INFO(all);
  CHECK(has(all, file + ":11: port: argument couldn't be parsed into an integer\n"));
  CHECK(has(all, "dir /none: "));
  CHECK(has(all, file + ":3: user: "));
  CHECK(has(all, file + ":4: user: "));
  CHECK(has(all, file + ":5: rename-command NOSUCH x: "));
  CHECK(has(all, file + ":6: rename-command NEITHER y: "));
  CHECK(has(all, "cannot listen on 300.1.2.3: "));
  CHECK(has(all, "cannot listen on 300.1.2.4: "));
  CHECK(has(all, "cannot write the logfile /none/my.log\n"));
  CHECK(has(check("namespace a prefix b: b prefix b:\nuser ann on +nosuch\n"), file + ":3: user: "));
}

TEST_CASE("--check-config says of lines without a value what a start would say") {
  const Folder folder;
  const std::string file = folder / "my.conf";
  const auto check = [&](const std::string& text) {
    std::ofstream(file) << "save 60 1\n" << text;
    return Daemon::RunToEnd({"--check-config", file});
  };
  const std::string nowhere =
      "nothing to listen on: there is no usable bind address and port, and no unixsocket\n";
  for (const char* line : {"bind\n", "bind \"\"\n", "port 0\n"}) {
    INFO(line);
    CHECK(check(line).output == nowhere);
    CHECK(check(line).exit_code == 1);
    CHECK(check(std::string(line) + "unixsocket /tmp/mayfly.sock\n").exit_code == 0);
  }
  for (const char* name : {"user", "rename-command", "replicaof", "namespace", "ttl-rule", "metrics-bind"})
    CHECK(check(std::string(name) + "\n").output == file + ":2: " + name + ": wrong number of arguments\n");
}

TEST_CASE("--check-config prints every problem of a conf file, and starts nothing") {
  const Folder folder;
  const std::string file = folder / "my.conf";
  const auto check = [&](const std::string& text) {
    std::ofstream(file) << text;
    return Daemon::RunToEnd({"--check-config", file});
  };
  const Ended good = check("save \"\"\nmaxmemory 1gb\nhz 20\nuser app on >secret ~app:* +@read\n");
  CHECK(good.output ==
        "warning: options without a meaning here are ignored: hz\n" + file + ": no problems\n");
  CHECK(good.exit_code == 0);
  const Ended bad = check("port x\nmaxmemroy 1gb\n\nnamespace shop prefx a\nappendonly yes\ninclude /none\n");
  CHECK(bad.output ==
        kNoSave + file + ":6: include /none: No such file or directory\n" + file +
            ":1: port: argument couldn't be parsed into an integer\n" + file +
            ":2: unknown option 'maxmemroy', did you mean 'maxmemory'?\n" + file +
            ":4: namespace: after 'shop' comes prefix, maxmemory, maxkeys or default-ttl with its "
            "value, not 'prefx'\n" +
            bad.output.substr(bad.output.rfind(file + ":5: appendonly yes is refused: ")));
  CHECK(bad.exit_code == 1);
  CHECK(check("user app on >secret +nosuchcommand\n").exit_code == 1);
  CHECK(check("rename-command NOSUCH x\n").exit_code == 1);
  CHECK(check("tls-port 7\ntls-cert-file /none\n").exit_code == 1);
  const Ended promises = check("save 60 1\nmaxmemory 1gb\nnamespace big prefix b: maxmemory 2gb\n");
  CHECK(promises.output.starts_with("warning: the maxmemory limits of the namespaces are 2.00G together, "));
  CHECK(promises.exit_code == 0);
  CHECK(check("save 60 1\nmaxmemory 100\n").output.starts_with("warning: maxmemory is 100B"));
  CHECK(check("dir /none\n").exit_code == 1);
  CHECK(check("save 60 1\nlogfile /none/my.log\n").output == "cannot write the logfile /none/my.log\n");
  CHECK(check("dir " + folder.path() + "\nlogfile my.log\n").exit_code == 0);
  CHECK(access((folder / "my.log").c_str(), F_OK) != 0);
  CHECK(check("save 60 1\nbind 300.1.2.3\n").output.starts_with("cannot listen on 300.1.2.3: "));
  CHECK(check("shards 2\ncluster-enabled yes\n").exit_code == 1);
  CHECK(Daemon::RunToEnd({"--check-config"}).output ==
        "mayfly: --check-config takes one conf file, and nothing else\n");
  CHECK(Daemon::RunToEnd({"--check-config", "/none"}).output == "/none: No such file or directory\n");
}

TEST_CASE("--check-rdb says what a snapshot file has, or where it is damaged, as redis-check-rdb does") {
  const Folder folder;
  const std::string file = folder / "dump.rdb";
  {
    Daemon daemon({"--dir", folder.path()});
    Client client(daemon);
    client.Run({"SET", "k", "v"});
    client.Run({"SET", "expires", "v", "EX", "1000"});
    client.Run({"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 1 end)"});
    REQUIRE(client.Run({"SAVE"}) == "OK");
  }
  const auto check = [&](const std::string& path) { return Daemon::RunToEnd({"--check-rdb", path}); };
  const Ended good = check(file);
  CHECK(good.exit_code == 0);
  CHECK(good.output.starts_with("version: 10\nfield redis-ver: "));
  CHECK(good.output.find("\nkeys: 2\nkeys with a deadline: 1\nkeys that have expired already: 0\n"
                         "libraries of functions: 1\nchecksum: OK\n" +
                         file + ": no problems\n") != std::string::npos);
  // redis-check-rdb is redis-server under another name.
  const std::string checker = folder / "redis-check-rdb";
  const auto output = [&](const std::string& command) {
    FILE* const pipe = popen(command.c_str(), "r");
    std::string text;
    for (int c; (c = fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    pclose(pipe);
    return text;
  };
  const std::string line = "ln -s \"$(command -v redis-server)\" " + checker + " && " + checker + ' ' + file;
  CHECK(output(line).find("RDB looks OK! \\o/\n[info] 2 keys read\n[info] 1 expires\n") != std::string::npos);
  const std::string saved = [&file] {
    std::ifstream text(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(text), {});
  }();
  const auto damaged = [&](const std::string& damaged_bytes) {
    std::ofstream(file, std::ios::binary) << damaged_bytes;
    const Ended ended = check(file);
    CHECK(ended.exit_code == 1);
    return ended.output.substr(ended.output.find("mayfly: "));
  };
  CHECK(damaged(saved.substr(0, saved.size() - 20)).starts_with("mayfly: " + file + " is damaged at byte "));
  std::string flipped = saved;
  flipped[saved.size() - 10] = static_cast<char>(flipped[saved.size() - 10] ^ 1);  // of the last value
  CHECK(damaged(flipped).ends_with(": the checksum is wrong\n"));
  CHECK(damaged(saved + "more").ends_with(": bytes follow its end\n"));
  CHECK(damaged(saved + saved).ends_with(": bytes follow its end\n"));
  std::string newer = saved;
  newer.replace(5, 4, "0099");
  CHECK(damaged(newer) == "mayfly: " + file + " has version 99, which is not known\n");
  CHECK(damaged("hello") == "mayfly: " + file + " is damaged at byte 0: this is no snapshot file\n");
  CHECK(mkfifo((folder / "fifo").c_str(), 0600) == 0);
  CHECK(check(folder / "fifo").output ==
        "mayfly: cannot open " + folder.path() + "/fifo: Not a regular file\n");
  CHECK(check(folder.path()).output == "mayfly: cannot open " + folder.path() + ": Is a directory\n");
  CHECK(check("/none").output == "mayfly: cannot open /none: No such file or directory\n");
  CHECK(check("/none").exit_code == 1);
  // CVE-2025-27151: a path longer than any buffer for one.
  for (const std::string& path :
       {std::string(100'000, 'a'), folder / std::string(255, 'b') + "/" + std::string(5'000, 'c')}) {
    const Ended ended = check(path);
    CHECK(ended.exit_code == 1);
    CHECK(ended.output.ends_with(": File name too long\n"));
  }
  CHECK(Daemon::RunToEnd({"--check-rdb"}).output ==
        "mayfly: --check-rdb takes one snapshot file, and nothing else\n");
}

TEST_CASE("the log says which conf file was read, which port is for metrics, and what a stop drops") {
  const Folder folder;
  std::ofstream(folder / "my.conf") << "timeout 0\n";
  const std::string metrics = std::to_string(FreePort());
  Daemon daemon({folder / "my.conf", "--metrics-port", metrics});
  Client client(daemon);
  CHECK(client.Run({"MSET", "a", "1", "b", "2"}) == "OK");
  daemon.Signal(SIGTERM);
  const std::string log = daemon.Wait().output;
  INFO(log);
  CHECK(log.find("the conf file is " + (folder / "my.conf") + "\n") != std::string::npos);
  CHECK(log.find(":" + metrics + " for metrics\n") != std::string::npos);
  CHECK(log.find("dropping 2 keys: nothing was saved\n") != std::string::npos);
  CHECK(log.find("everybody") == std::string::npos);
}

TEST_CASE("a server that everybody may use says so in the log, also after CONFIG SET") {
  const Daemon daemon({"--bind", "0.0.0.0"});
  Client client(daemon);
  const auto warned = [&] {
    return daemon.log().find("everybody who reaches this machine") != std::string::npos;
  };
  CHECK_FALSE(warned());
  CHECK(client.Run({"CONFIG", "SET", "requirepass", "x", "protected-mode", "no"}) == "OK");
  CHECK_FALSE(warned());
  CHECK(client.Run({"AUTH", "x"}) == "OK");
  CHECK(client.Run({"CONFIG", "SET", "requirepass", ""}) == "OK");
  CHECK(warned());
}

TEST_CASE("loglevel debug logs clients that come and go, and CONFIG SET without secrets") {
  const Daemon daemon({"--loglevel", "debug"});
  {
    Client client(daemon);
    CHECK(client.Run({"CONFIG", "SET", "timeout", "77", "requirepass", "hush"}) == "OK");
  }
  CHECK(Eventually([&] { return daemon.log().find(" is gone\n") != std::string::npos; }));
  const std::string log = daemon.log();
  INFO(log);
  CHECK(log.find(" connects from ") != std::string::npos);
  CHECK(log.find(": timeout 77\n") != std::string::npos);
  CHECK(log.find(": requirepass (a secret)\n") != std::string::npos);
  CHECK(log.find("hush") == std::string::npos);
}

}  // namespace mayfly
