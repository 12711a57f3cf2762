// The accounts of memory beside the data: keys read by tracking clients, leases, scripts and the like. No key is evicted for
// this memory, so the server must know the sum. A part opens an account at its construction; no code keeps a list of
// accounts by hand.
//
// An account is a number of bytes that its part keeps up to date. Accounts must outlive the parts. Loop thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace mayfly {

class Accounts {
 public:
  class Account {
   public:
    // Borrows `bytes`. Throws std::bad_alloc.
    Account(Accounts& accounts, const uint64_t& bytes) : accounts_(accounts), bytes_(bytes) {
      accounts_.open_.push_back(&bytes_);
    }
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;
    ~Account() { std::erase(accounts_.open_, &bytes_); }

   private:
    Accounts& accounts_;
    const uint64_t& bytes_;
  };

  Accounts() = default;
  Accounts(const Accounts&) = delete;
  Accounts& operator=(const Accounts&) = delete;

  uint64_t Sum() const noexcept {
    uint64_t sum = 0;
    for (const uint64_t* bytes : open_) sum += *bytes;
    return sum;
  }

 private:
  std::vector<const uint64_t*> open_;
};

}  // namespace mayfly
