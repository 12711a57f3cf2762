#include "config/sources/environment.h"

#include "support/catch.h"
#include "unit/config/load.h"

namespace mayfly::config {

TEST_CASE("MAYFLY_ variables set options, and other variables are ignored") {
  const TestFiles files;
  const Loaded loaded(files, {},
                      {"PATH=/bin", "MAYFLY_MAXMEMORY_POLICY=allkeys-lru", "MAYFLY_BIND=127.0.0.1 -::1",
                       "MAYFLY_REQUIREPASS=two \"words", "mayfly_port=1", "PORT=2", "MAYFLY_SAVE="});
  CHECK(loaded.error == "");
  CHECK(loaded.warnings.empty());
  const Settings& settings = loaded.options.settings();
  CHECK(settings.maxmemory_policy == EvictionPolicy::kAllKeysLru);
  CHECK(settings.bind == std::vector<BindAddress>{{"127.0.0.1", false}, {"::1", true}});
  CHECK(settings.requirepass == "two \"words");
  CHECK(settings.port == 6379);
}

TEST_CASE("MAYFLY_RENAME_COMMAND renames a command, as its line in a file does") {
  const TestFiles files;
  const Loaded loaded(files, {}, {"MAYFLY_RENAME_COMMAND=FLUSHALL \"\""});
  CHECK(loaded.error == "");
  CHECK(loaded.warnings.empty());
  CHECK(loaded.options.settings().renamings == std::vector<Renaming>{{"FLUSHALL", ""}});
}

TEST_CASE("command line beats environment beats file") {
  TestFiles files;
  files.Put("a.conf", "port 1\ntimeout 1\ndatabases 1\n");
  const Loaded loaded(files, {"a.conf", "--port", "3"}, {"MAYFLY_PORT=2", "MAYFLY_TIMEOUT=2"});
  CHECK(loaded.options.settings().port == 3);
  CHECK(loaded.options.settings().timeout_seconds == 2);
  CHECK(loaded.options.settings().databases == 1);
}

TEST_CASE("a _FILE variable reads the value from a file of one line, without the line end") {
  TestFiles files;
  files.Put("/run/secrets/p", "hush \"x\n");
  files.Put("/crlf", "hush\r\n");
  files.Put("/two", "hush\n\n");
  files.Put("/lines", "old\nnew\n");
  const auto password = [&](const std::string& path) {
    return Loaded(files, {}, {"MAYFLY_REQUIREPASS_FILE=" + path}).options.settings().requirepass;
  };
  CHECK(password("/run/secrets/p") == "hush \"x");
  CHECK(password("/crlf") == "hush");
  CHECK(password("/two") == "hush");
  CHECK(Loaded(files, {}, {"MAYFLY_REQUIREPASS_FILE=/none"}).error ==
        "MAYFLY_REQUIREPASS_FILE: /none: No such file or directory");
  CHECK(Loaded(files, {}, {"MAYFLY_REQUIREPASS_FILE=/lines"}).error ==
        "MAYFLY_REQUIREPASS_FILE: /lines: holds more than one line");
  files.Put("/word", "much\n");
  CHECK(Loaded(files, {}, {"MAYFLY_MAXMEMORY_FILE=/word"}).error ==
        "MAYFLY_MAXMEMORY_FILE: /word: argument must be a memory value");
  CHECK(Loaded(files, {}, {"MAYFLY_REQUIREPASS_FILE=/two", "MAYFLY_REQUIREPASS=x"}).error ==
        "MAYFLY_REQUIREPASS: given both as a value and as a file");
}

TEST_CASE("a _FILE variable whose file holds no value ends the start, whatever the option is") {
  TestFiles files;
  files.Put("/empty", "");
  files.Put("/blank", " \r\n\n");
  for (const char* name : {"REQUIREPASS", "MASTERAUTH", "TLS_KEY_FILE_PASS", "LOGFILE", "SAVE", "BIND"}) {
    for (const char* path : {"/empty", "/blank"}) {
      const std::string variable = "MAYFLY_" + std::string(name) + "_FILE";
      CHECK(Loaded(files, {}, {variable + "=" + path}).error == variable + ": " + path + ": holds no value");
    }
  }
  CHECK(Loaded(files, {"--requirepass", "x"}, {"MAYFLY_REQUIREPASS_FILE=/empty"}).error != "");
  CHECK(Loaded(files, {}, {"MAYFLY_REQUIREPASS="}).error == "");
}

TEST_CASE("an option whose own name ends in file is not read from a file") {
  const TestFiles files;
  CHECK(Loaded(files, {}, {"MAYFLY_LOGFILE=/tmp/x"}).options.settings().logfile == "/tmp/x");
  CHECK(Loaded(files, {}, {"MAYFLY_PIDFILE=/tmp/p"}).options.settings().pidfile == "/tmp/p");
  CHECK(Loaded(files, {}, {"MAYFLY_TLS_KEY_FILE=/k"}).Get("tls-key-file") == "/k");
}

TEST_CASE("the variables that Kubernetes sets for a Service named mayfly are ignored with one warning") {
  const TestFiles files;
  const Loaded loaded(
      files, {},
      {"MAYFLY_PORT=tcp://10.0.0.1:6379", "MAYFLY_SERVICE_HOST=10.0.0.1", "MAYFLY_SERVICE_PORT=6379",
       "MAYFLY_SERVICE_PORT_REDIS=6379", "MAYFLY_PORT_6379_TCP=tcp://10.0.0.1:6379",
       "MAYFLY_PORT_6379_TCP_PROTO=tcp", "MAYFLY_PORT_6379_TCP_PORT=6379",
       "MAYFLY_PORT_6379_TCP_ADDR=10.0.0.1", "MAYFLY_TLS_PORT=udp://10.0.0.1:1", "MAYFLY_TIMEOUT=7"});
  CHECK(loaded.error == "");
  CHECK(loaded.options.settings().port == 6379);
  CHECK(loaded.options.settings().timeout_seconds == 7);
  REQUIRE(loaded.warnings.size() == 1);
  CHECK(loaded.warnings[0] ==
        "environment variables that set no option are ignored: MAYFLY_PORT, MAYFLY_SERVICE_HOST, "
        "MAYFLY_SERVICE_PORT, MAYFLY_SERVICE_PORT_REDIS, MAYFLY_PORT_6379_TCP, MAYFLY_PORT_6379_TCP_PROTO, "
        "MAYFLY_PORT_6379_TCP_PORT, MAYFLY_PORT_6379_TCP_ADDR, MAYFLY_TLS_PORT");
}

TEST_CASE("a MAYFLY_ variable that names no option is a warning, and a wrong value is an error") {
  const TestFiles files;
  const Loaded loaded(files, {},
                      {"MAYFLY_MAXMEMROY=1gb", "MAYFLY_USER=app", "MAYFLY_", "MAYFLY", "MAYFLY_\n=x"});
  CHECK(loaded.error == "");
  REQUIRE(loaded.warnings.size() == 1);
  CHECK(loaded.warnings[0] ==
        "environment variables that set no option are ignored: MAYFLY_MAXMEMROY (did you mean "
        "MAYFLY_MAXMEMORY?), MAYFLY_USER, MAYFLY_, MAYFLY_\\x0a");
  CHECK(Loaded(files, {}, {"MAYFLY_PORT=abc"}).error ==
        "MAYFLY_PORT: argument couldn't be parsed into an integer");
  CHECK(Loaded(files, {}, {"MAYFLY_PORT"}).error ==
        "MAYFLY_PORT: argument couldn't be parsed into an integer");
  CHECK(Loaded(files, {}, {"MAYFLY_APPENDONLY=yes"})
            .error.starts_with("MAYFLY_APPENDONLY: appendonly yes is refused"));
}

TEST_CASE("a variable that looks like a secret and sets no option ends the start") {
  const TestFiles files;
  const auto error = [&](const std::string& variable) { return Loaded(files, {}, {variable}).error; };
  CHECK(error("MAYFLY_PASSWORD=x") ==
        "MAYFLY_PASSWORD: no option has this name, and it looks like a secret; the password is "
        "MAYFLY_REQUIREPASS or MAYFLY_REQUIREPASS_FILE");
  CHECK(error("MAYFLY_REQUIREPAS=x").ends_with("did you mean MAYFLY_REQUIREPASS?"));
  CHECK(error("MAYFLY_REQIREPASS_FILE=/x").find("looks like a secret") != std::string::npos);
  CHECK(error("MAYFLY_REQUIRE_PASS=x").ends_with("did you mean MAYFLY_REQUIREPASS?"));
  for (const char* name : {"TOKEN", "Api_Secret", "AUTH", "auth", "USER_PASSWORD", "PASSWORD_FILE"})
    CHECK(error("MAYFLY_" + std::string(name) + "=x").find("looks like a secret") != std::string::npos);
  // Kubernetes, for a Service mayfly-auth.
  for (const char* variable : {"MAYFLY_AUTH_SERVICE_HOST=10.0.0.1", "MAYFLY_AUTH_SERVICE_PORT=1",
                               "MAYFLY_AUTH_PORT=tcp://10.0.0.1:1", "MAYFLY_AUTH_PORT_1_TCP=tcp://10.0.0.1:1",
                               "MAYFLY_AUTH_PORT_1_TCP_ADDR=10.0.0.1"})
    CHECK(error(variable) == "");
}

TEST_CASE("a password in a variable of Redis's image is named in the log") {
  const TestFiles files;
  for (const std::string name : {"REDIS_PASSWORD", "REDIS_PASSWORD_FILE", "VALKEY_PASSWORD"}) {
    const Loaded loaded(files, {}, {name + "=x"});
    CHECK(loaded.error == "");
    CHECK(loaded.warnings ==
          std::vector<std::string>{
              name + " is set, but not read: the password is MAYFLY_REQUIREPASS or MAYFLY_REQUIREPASS_FILE"});
  }
  CHECK(Loaded(files, {}, {"REDIS_PASSWORDS=x", "REDIS_PORT=1"}).warnings.empty());
}

}  // namespace mayfly::config
