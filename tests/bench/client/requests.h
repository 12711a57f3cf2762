// Requests as bytes. Keys are "k:" and twelve digits, 14 bytes in all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/request_text.h"

namespace mayfly::bench {

using testing::AppendRequest;

constexpr size_t kKeyBytes = 14;
constexpr size_t kKeyDigits = 12;

// Writes `number` as twelve digits.
void WriteDigits(uint64_t number, char* digits);

// "k:000000000017" for 17.
std::string KeyOf(uint64_t number);

// Requests of one form, as bytes: words with blanks between them, in which {k} and {m} stand for the twelve digits of a
// key's and of a member's number ("HSET k:{k} f:{m} v:{m}"). Other braces stay: "GET {tag}:{k}".
class RequestForm {
 public:
  explicit RequestForm(const std::string& form);

  const std::string& bytes() const { return bytes_; }
  // Writes the digits into a copy of bytes().
  void Write(uint64_t key, uint64_t member, char* copy) const {
    for (const size_t at : keys_) WriteDigits(key, copy + at);
    for (const size_t at : members_) WriteDigits(member, copy + at);
  }

 private:
  std::string bytes_;
  std::vector<size_t> keys_;
  std::vector<size_t> members_;
};
// The forms of AskOptions::request.
std::vector<RequestForm> ReadForms(const std::string& forms);

}  // namespace mayfly::bench
