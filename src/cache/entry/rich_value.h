// A RichValue is the interface of every value that is more than a string: a hash, a list, a set and so on. Through this
// interface the keyspace stores, copies, times and frees a value of any type.
//
// Commands do not use the interface: they get the concrete type, by `type` and a cast, and make no virtual call.
//
// Ownership: the entry owns its value, and a value owns its members. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/time/clock.h"
#include "cache/entry/expiry.h"

namespace mayfly {

// The types as TYPE reports them.
enum class ValueType : uint8_t { kString, kHash, kList, kSet, kSortedSet, kStream };

class NameListener;
class ValueListener;

class MemberVisitor {
 public:
  virtual ~MemberVisitor() = default;
  // Receives a member in its parts, as texts: a field and its value, a member and its score ... Valid during the call.
  virtual void Visit(std::span<const std::string_view> parts) = 0;
};

class RichValue {
 public:
  explicit RichValue(ValueType its_type) noexcept : type(its_type) {}
  virtual ~RichValue() = default;

  // The name for OBJECT ENCODING.
  virtual std::string_view EncodingName() const noexcept = 0;
  // Number of members; the keyspace removes a value without members, and its key.
  virtual size_t Size() const noexcept = 0;
  // Memory of this object and all objects it owns, as rounded by the allocator. O(1).
  virtual uint64_t Bytes() const noexcept = 0;
  // Throws std::bad_alloc.
  virtual std::unique_ptr<RichValue> Clone() const = 0;
  // Frees at most about `budget` members of a value that is no longer in use. Returns true when deleting the rest takes no
  // longer than one step.
  virtual bool FreeSome(size_t budget) noexcept = 0;
  // A pointer for BuriedValues, in memory that lasts until FreeSome returns true; null if deleting the small value takes no
  // longer than one step. So only large values have room for the pointer.
  virtual RichValue** BurialLink() noexcept { return nullptr; }
  // Who reads the value in slices now, or null.
  virtual ValueListener* listener() const noexcept { return nullptr; }
  // Shows all members, in order if the type has an order. For DEBUG.
  virtual void ForEachMember(MemberVisitor& visitor) const = 0;

  // The nearest deadline of a member. All deadlines of a value's members are on one clock.
  virtual Expiry NextDeadline() const noexcept { return Expiry::Never(); }
  // Returns true if every member is due at `now`, before DropDue. O(log n), and O(n) for a small value.
  virtual bool AllDue(Now /*now*/) const noexcept { return false; }
  // Drops at most `budget` members that are due at `now`, nearest deadline first. Returns the number of dropped members. Tells
  // `listener` their names, unless it is null.
  virtual size_t DropDue(Now /*now*/, size_t /*budget*/, NameListener* /*listener*/) noexcept { return 0; }

  RichValue(const RichValue&) = delete;
  RichValue& operator=(const RichValue&) = delete;

  const ValueType type;
};

}  // namespace mayfly
