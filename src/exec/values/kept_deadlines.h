// Commands for replicas that set fields and keep the fields' deadlines. A replica's HSET clears a field's deadline, so the master
// sends the deadline again.
//
//   HSET key field value field value     from elsewhere
//   HPEXPIREAT key ms FIELDS 1 field     for each field that has one
//
// Takes memory for fields with deadlines alone. Loop thread only.
#pragma once

#include <array>
#include <list>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "cache/changes/change.h"
#include "cache/types/hash_value.h"

namespace mayfly {

class KeptDeadlines {
 public:
  // Notes the deadlines that the fields of these pairs have now. Borrows their names. False: there is no memory for that.
  bool Note(const HashValue& hash, std::span<const std::string_view> pairs, Now now) noexcept {
    try {
      for (size_t i = 0; i < pairs.size(); i += 2) {
        if (!hash.Has(pairs[i])) continue;
        const Expiry deadline = hash.DeadlineOf(pairs[i]);
        if (deadline.kind != Expiry::Kind::kNever) Add(pairs[i], deadline.On(Expiry::Kind::kWall, now));
      }
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
  // The first of them, which leads to the others; null: there is none. Valid while this object lives.
  const Effect* first() const noexcept { return parts_.empty() ? nullptr : &parts_.front().effect; }

 private:
  struct Part {
    std::string ms;
    std::array<std::string_view, 4> words;
    Effect effect;
  };

  void Add(std::string_view field, uint64_t unix_ms) {
    Effect* const before = parts_.empty() ? nullptr : &parts_.back().effect;
    Part& part = parts_.emplace_back();
    part.ms = std::to_string(unix_ms);
    part.words = {part.ms, "FIELDS", "1", field};
    part.effect = {.command = "HPEXPIREAT", .arguments = part.words, .of_deadlines = true};
    if (before != nullptr) before->next = &part.effect;
  }

  std::list<Part> parts_;  // a part stays where it is
};

}  // namespace mayfly
