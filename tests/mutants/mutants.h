// Faults behind numbers, in a copy of the source that tests/mutants has made. MUTANT=3,17 in the environment turns on 3 and 17. The
// numbers that a process asks are noted in the file of bytes that MUTANT_HITS names.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include <sys/mman.h>

namespace mayfly {

class Mutants {
 public:
  static constexpr unsigned kNumbers = 1U << 15;

  static Mutants& Here() {
    static Mutants mutants;
    return mutants;
  }
  bool IsOn(unsigned number) {
    hits_[number] = 1;
    return on_[number];
  }
  unsigned char* hits() { return hits_; }

 private:
  Mutants() {
    const char* text = std::getenv("MUTANT");
    for (char* end = nullptr; text != nullptr && *text != '\0'; text = *end == ',' ? end + 1 : end) {
      const unsigned long number = std::strtoul(text, &end, 10);
      if (end == text || number >= kNumbers) break;
      on_[number] = true;
    }
    const char* const path = std::getenv("MUTANT_HITS");
    const int fd = path != nullptr ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void* const at = ::mmap(nullptr, kNumbers, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) hits_ = static_cast<unsigned char*>(at);
    ::close(fd);
  }

  bool on_[kNumbers] = {};
  unsigned char own_[kNumbers] = {};
  unsigned char* hits_ = own_;
};

}  // namespace mayfly

#define MUTANT(number) (::mayfly::Mutants::Here().IsOn(number))
