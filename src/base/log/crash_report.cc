#include "base/log/crash_report.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdlib>

#include <sys/stat.h>
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define MAYFLY_BACKTRACE 1
#endif

#include "base/text/numbers.h"

namespace mayfly {
namespace {

struct Crash {
  int number;
  std::string_view name;
};
constexpr Crash kCrashes[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}};
constexpr size_t kCrashCount = sizeof kCrashes / sizeof *kCrashes;

// The data of the handler. The variable is static because a handler has no argument of its own.
struct Reporter {
  std::string logfile;
  const CrashDetails* details = nullptr;
  LogTime times;
  bool enabled = false;
  struct sigaction before[kCrashCount];  // valid while enabled
};
Reporter* reporter = nullptr;

// The handler's stack. Twice the need of the handler, also on processors that save large registers.
constexpr size_t kStackBytes = 128 << 10;
alignas(64) char own_stack[kStackBytes];

size_t IndexOf(int number) noexcept {
  const Crash* const end = kCrashes + kCrashCount;
  const Crash* const found = std::find_if(kCrashes, end, [&](const Crash& c) { return c.number == number; });
  return static_cast<size_t>(found - kCrashes);
}

// A report is not written twice if standard error and the log are the same terminal or file.
bool AreOneFile(int one, int other) noexcept {
  struct stat first{};
  struct stat second{};
  if (fstat(one, &first) != 0 || fstat(other, &second) != 0) return false;
  return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

void WritePlace(CrashText& text, [[maybe_unused]] const ucontext_t& context) noexcept {
  using Hex = CrashText::Hex;
#if defined(__x86_64__) && defined(__linux__)
  const auto& registers = context.uc_mcontext.gregs;
  text.Line("instruction ", Hex{static_cast<uint64_t>(registers[REG_RIP])}, ", stack ",
            Hex{static_cast<uint64_t>(registers[REG_RSP])}, ", frame ",
            Hex{static_cast<uint64_t>(registers[REG_RBP])});
#elif defined(__aarch64__) && defined(__linux__)
  constexpr size_t kFrame = 29;
  text.Line("instruction ", Hex{context.uc_mcontext.pc}, ", stack ", Hex{context.uc_mcontext.sp}, ", frame ",
            Hex{context.uc_mcontext.regs[kFrame]});
#else
  text.Line("instruction, stack and frame: unknown on this processor");
#endif
}

void WriteBacktrace(CrashText& text) noexcept {
#if defined(MAYFLY_BACKTRACE)
  constexpr int kFrames = 64;
  void* frames[kFrames];
  const int count = backtrace(frames, kFrames);
  text.Line("backtrace, innermost first (addr2line -Cfe PROGRAM +0x... names the places):");
  for (const int file : text.files()) {
    if (file >= 0) backtrace_symbols_fd(frames, count, file);
  }
#else
  text.Line("no backtrace: this C library has none");
#endif
}

void WriteReport(const Reporter& told, const Crash& crash, const siginfo_t& info,
                 const ucontext_t& context) noexcept {
  const int log = OpenLogInHandler(told.logfile);
  CrashText text(log, AreOneFile(log, STDERR_FILENO) ? -1 : STDERR_FILENO);
  AppendLogHead(text, told.times);
  text.Line("Mayfly ", MAYFLY_VERSION, " crashed by ", crash.name, " (", crash.number, "), code ",
            info.si_code);
  if (info.si_code <= 0)
    text.Line("sent by process ", info.si_pid, " of user ", info.si_uid);
  else
    text.Line("address ", CrashText::Hex{reinterpret_cast<uintptr_t>(info.si_addr)});
  WritePlace(text, context);
  told.details->Append(text);
  WriteBacktrace(text);
  AppendLogHead(text, told.times);
  text.Line("end of the crash report");
}

// All signals are blocked meanwhile: if the handler crashes, the kernel ends the process.
void OnCrash(int number, siginfo_t* info, void* context) noexcept {
  const size_t index = IndexOf(number);
  WriteReport(*reporter, kCrashes[index], *info, *static_cast<const ucontext_t*>(context));
  sigaction(number, &reporter->before[index], nullptr);
  // After a fault, the instruction runs once more and faults again. A signal sent by a process must be sent again.
  if (info->si_code <= 0) raise(number);
}

// The sanitizers may have given the thread a signal stack already, and free that stack at the end.
void GiveStack() noexcept {
  stack_t present{};
  if (sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE) == 0) return;
  stack_t stack{};
  stack.ss_sp = own_stack;
  stack.ss_size = sizeof own_stack;
  sigaltstack(&stack, nullptr);
}

// The first call loads a library, which takes memory and locks.
void WarmUp() noexcept {
#if defined(MAYFLY_BACKTRACE)
  void* frame = nullptr;
  backtrace(&frame, 1);
#endif
}

}  // namespace

int OpenLogInHandler(const std::string& path) noexcept {
  constexpr mode_t kAsUmaskSays = 0666;
  return path.empty() ? STDOUT_FILENO
                      : open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kAsUmaskSays);
}

void AppendLogHead(CrashText& text, const LogTime& times) noexcept {
  constexpr int64_t kMsPerS = 1000;
  constexpr int64_t kNsPerMs = 1'000'000;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  LogTime::Text room;
  text.Append(getpid());
  text.Append(":M ");
  text.Append(times.Write(now.tv_sec * kMsPerS + now.tv_nsec / kNsPerMs, room));
  text.Append(" # ");
}

void CrashText::AppendInteger(int64_t number) noexcept {
  std::array<char, kMaxIntegerText> digits;
  Append({digits.data(), FormatInteger(number, digits.data())});
}

void CrashText::Append(std::string_view text) noexcept {
  used_ += text.copy(line_.data() + used_, line_.size() - used_);
}

void CrashText::Append(Hex address) noexcept {
  constexpr size_t kDigits = 2 * sizeof address.number;
  std::array<char, kDigits> digits;
  size_t first = kDigits;
  do {
    digits[--first] = "0123456789abcdef"[address.number % 16];
    address.number /= 16;
  } while (address.number != 0);
  Append("0x");
  Append({digits.data() + first, kDigits - first});
}

void CrashText::EndLine() noexcept {
  used_ = std::min(used_, line_.size() - 1);
  // Text chosen by clients must not end a line or move a terminal's cursor.
  std::replace_if(
      line_.begin(), line_.begin() + static_cast<ptrdiff_t>(used_), [](char c) { return c < ' ' || c > '~'; },
      '?');
  line_[used_++] = '\n';
  for (const int file : files_) {
    for (size_t at = 0; file >= 0 && at < used_;) {
      const ssize_t written = write(file, line_.data() + at, used_ - at);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) break;  // no place left for a report
      at += static_cast<size_t>(written);
    }
  }
  used_ = 0;
}

CrashReport::CrashReport(std::string logfile, const CrashDetails& details) {
  assert(reporter == nullptr);
  reporter = new Reporter{
      .logfile = std::move(logfile), .details = &details, .times = LogTime(time(nullptr)), .before = {}};
  GiveStack();
  WarmUp();
}

CrashReport::~CrashReport() {
  Enable(false);
  delete reporter;
  reporter = nullptr;
}

void CrashReport::Enable(bool on) noexcept {
  if (reporter->enabled == on) return;
  reporter->enabled = on;
  struct sigaction action{};
  action.sa_sigaction = OnCrash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (size_t i = 0; i < kCrashCount; ++i) {
    const struct sigaction& wanted = on ? action : reporter->before[i];
    sigaction(kCrashes[i].number, &wanted, on ? &reporter->before[i] : nullptr);
  }
}

}  // namespace mayfly
