// A RichValue is a value that is more than a string: a hash, a list, a set ... One small interface, through
// which the keyspace stores, copies, times and frees any of them without knowing which it is.
//
// Commands do not use it: they get the concrete type, by `type` and a cast, and make no virtual call.
//
// Ownership: the entry owns its value, and a value owns its members. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "cache/expiry.h"

namespace mayfly {

// What TYPE answers. kNone is for tests.
enum class ValueType : uint8_t { kString, kHash, kList, kSet, kSortedSet, kStream, kNone };

class RichValue {
 public:
  explicit RichValue(ValueType its_type) noexcept : type(its_type) {}
  virtual ~RichValue() = default;

  // As OBJECT ENCODING names it.
  virtual std::string_view EncodingName() const noexcept = 0;
  // Number of members; a value without any is removed with its key.
  virtual size_t Size() const noexcept = 0;
  // Memory of this object and all it owns, as the allocator rounds it.
  virtual uint64_t Bytes() const noexcept = 0;
  // Throws std::bad_alloc.
  virtual std::unique_ptr<RichValue> Clone() const = 0;
  // Frees at most about `budget` members, for a value that is no longer in use. Returns true when deleting the
  // rest takes no longer than one step.
  virtual bool FreeSome(size_t budget) noexcept = 0;

  // The nearest deadline of a member.
  virtual Expiry NextDeadline() const noexcept { return Expiry::Never(); }
  // Drops at most `budget` members that are due at `now`, nearest deadline first. Returns how many.
  virtual size_t DropDue(Now /*now*/, size_t /*budget*/) noexcept { return 0; }

  RichValue(const RichValue&) = delete;
  RichValue& operator=(const RichValue&) = delete;

  const ValueType type;
};

}  // namespace mayfly
