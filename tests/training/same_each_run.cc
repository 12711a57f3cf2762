// What would otherwise differ from one run of the training to the next: random bytes, the time, the process number, names of temporary
// files, and addresses, which gcc counts, too. So the counts of two runs are equal to the byte, and two builds of one source can be.
//
// These functions take the place of the C library's, also for jemalloc, which gives memory back by the time.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <sys/personality.h>
#include <sys/random.h>

namespace {

// Starts the program anew, with the same addresses in each run. Where the kernel refuses, the program goes on as it is.
[[gnu::constructor]] void KeepAddresses(int /*count*/, char** arguments, char** /*environment*/) {
  constexpr unsigned long kAsk = 0xffffffff;
  const int present = personality(kAsk);
  if (present == -1 || (present & ADDR_NO_RANDOMIZE) != 0) return;
  if (personality(static_cast<unsigned>(present) | ADDR_NO_RANDOMIZE) != -1)
    execv("/proc/self/exe", arguments);
}

}  // namespace

extern "C" ssize_t getrandom(void* bytes, size_t size, unsigned /*flags*/) {
  std::memset(bytes, 0x5a, size);
  return static_cast<ssize_t>(size);
}

extern "C" pid_t getpid() noexcept { return 4711; }

extern "C" int clock_gettime(clockid_t /*clock*/, timespec* now) noexcept {
  static uint64_t us = 1'700'000'000'000'000;
  ++us;
  now->tv_sec = static_cast<time_t>(us / 1'000'000);
  now->tv_nsec = static_cast<long>(us % 1'000'000 * 1000);
  return 0;
}

extern "C" int mkstemp(char* name) {
  static int number = 0;
  constexpr size_t kPlaces = 6;  // of the X at the end
  int file = -1;
  do {  // another build may be at its training, too
    std::snprintf(name + std::strlen(name) - kPlaces, kPlaces + 1, "%06d", ++number);
    file = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
  } while (file == -1 && errno == EEXIST);
  return file;
}
