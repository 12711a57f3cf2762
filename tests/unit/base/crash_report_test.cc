#include "base/log/crash_report.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "base/fiber.h"
#include "support/catch.h"

#include <sys/resource.h>
#include <sys/wait.h>

namespace mayfly {
namespace {

class Bystander final : public CrashDetails {
 public:
  void Append(CrashText& text) const noexcept override {
    text.Line("saw ", 3, " cats\nand ", CrashText::Hex{0xabc}, std::string(2000, 'x'));
  }
};

// The signal that ended a child, or, if it exited, its exit code with a minus.
struct Crashed {
  int ended_by;
  std::string log;
  std::string standard_error;
};

std::string ReadAndRemove(const std::string& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  return text;
}

// Without what Catch2 and the sanitizers have arranged for crashes, so that the default action is seen.
void ForgetHandlers() {
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &no_core);
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) signal(number, SIG_DFL);
}

// Runs `crash` in a child.
template <typename Act>
Crashed CrashBy(Act&& crash, const CrashDetails& witness = Bystander(), bool enabled = true) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("mayfly-crash-test-" + std::to_string(getpid()))).string();
  const pid_t child = fork();
  if (child == 0) {
    const int errors = open((path + ".err").c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(errors, STDERR_FILENO);
    ForgetHandlers();
    CrashReport report(path, witness);
    report.Enable(true);
    report.Enable(enabled);
    crash();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status), ReadAndRemove(path),
          ReadAndRemove(path + ".err")};
}

// Recursion that no optimisation can take out: each call needs what the inner one returns. Its end never comes.
[[gnu::noinline]] size_t UseUpStack(size_t depth) {
  volatile char some[4096];
  some[depth % sizeof some] = 1;
  if (depth == SIZE_MAX) return 0;
  return UseUpStack(depth + 1) + static_cast<size_t>(some[(depth + 1) % sizeof some]);
}

// From the head to the last line, with what the witness said, on one line, before the backtrace.
bool IsWhole(const std::string& log, const std::string& name) {
  static const std::regex kHead(
      "^[0-9]+:M [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3} # Mayfly ");
  const size_t head = std::regex_search(log, kHead) ? 0 : std::string::npos;
  const size_t what = log.find(" # Mayfly " MAYFLY_VERSION " crashed by " + name + " (");
  const size_t said = log.find("\nsaw 3 cats?and 0xabcxxxx");
  const size_t trace = log.find("\nbacktrace");
  return head < what && what < said && said < trace && trace != std::string::npos &&
         log.ends_with(" # end of the crash report\n") && log.find("cats\n") == std::string::npos;
}

}  // namespace

TEST_CASE("a fault is reported in the log and on standard error, and ends the process as it would have",
          "[kernel]") {
  const Crashed crashed = CrashBy([] { *reinterpret_cast<volatile char*>(uintptr_t{0x1230}) = 1; });
  CHECK(crashed.ended_by == SIGSEGV);
  CHECK(IsWhole(crashed.log, "SIGSEGV"));
  CHECK(crashed.log.find("\naddress 0x1230\ninstruction ") != std::string::npos);
  CHECK(crashed.standard_error == crashed.log);
}

TEST_CASE("each of the five signals is reported, also if another process has sent it") {
  for (const auto& [number, name] :
       {std::pair(SIGSEGV, "SIGSEGV"), std::pair(SIGBUS, "SIGBUS"), std::pair(SIGFPE, "SIGFPE"),
        std::pair(SIGILL, "SIGILL"), std::pair(SIGABRT, "SIGABRT")}) {
    const Crashed crashed = CrashBy([number] { kill(getpid(), number); });
    CHECK(crashed.ended_by == number);
    CHECK(IsWhole(crashed.log, name));
    CHECK(crashed.log.find("\nsent by process ") != std::string::npos);
  }
  const Crashed aborted = CrashBy([] { std::abort(); });
  CHECK(aborted.ended_by == SIGABRT);
  CHECK(IsWhole(aborted.log, "SIGABRT"));
}

TEST_CASE("a stack that has overflowed is reported from another one, also a fiber's") {
  const Crashed crashed = CrashBy([] { UseUpStack(0); });
  CHECK(crashed.ended_by == SIGSEGV);
  CHECK(IsWhole(crashed.log, "SIGSEGV"));
  const Crashed in_fiber = CrashBy([] {
    Fiber fiber;
    fiber.Run([](void*) { UseUpStack(0); }, nullptr);
  });
  CHECK(in_fiber.ended_by == SIGSEGV);
  CHECK(IsWhole(in_fiber.log, "SIGSEGV"));
}

TEST_CASE("a report that crashes itself ends the process, and what it had written stays") {
  class Reckless final : public CrashDetails {
   public:
    void Append(CrashText& text) const noexcept override {
      text.Line("looks closer");
      *reinterpret_cast<volatile char*>(uintptr_t{8}) = 1;
    }
  };
  const Crashed crashed = CrashBy([] { std::abort(); }, Reckless());
  CHECK(crashed.ended_by == SIGSEGV);
  CHECK(crashed.log.ends_with("\nlooks closer\n"));
}

TEST_CASE("a report that is switched off leaves everything as it was", "[kernel]") {
  const Crashed crashed = CrashBy([] { std::abort(); }, Bystander(), /*enabled=*/false);
  CHECK(crashed.ended_by == SIGABRT);
  CHECK(crashed.log.empty());
  CHECK(crashed.standard_error.empty());
}

}  // namespace mayfly
