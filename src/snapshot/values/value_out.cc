#include "snapshot/values/value_out.h"

#include <algorithm>
#include <cassert>

#include "cache/entry/rich_value.h"
#include "cache/types/hash_value.h"
#include "cache/types/list_value.h"
#include "cache/types/set_value.h"
#include "cache/types/sorted_set_value.h"
#include "cache/types/stream/stream_value.h"
#include "snapshot/format/types.h"
#include "snapshot/values/stream_out.h"

namespace mayfly::rdb {
namespace {

const HashValue& HashOf(const RichValue& value) noexcept { return static_cast<const HashValue&>(value); }
const SetValue& SetOf(const RichValue& value) noexcept { return static_cast<const SetValue&>(value); }
const SortedSetValue& SortedSetOf(const RichValue& value) noexcept {
  return static_cast<const SortedSetValue&>(value);
}
const StreamValue& StreamOf(const RichValue& value) noexcept {
  return static_cast<const StreamValue&>(value);
}

// Returns true if a field that is not due at `now` has a deadline.
bool AnyDeadline(const HashValue& hash, Now now) noexcept {
  if (hash.NextDeadline().kind == Expiry::Kind::kNever) return false;
  bool any = false;
  hash.ForEachLiveAt(now, [&](std::string_view, std::string_view, Expiry deadline) {
    any = any || deadline.kind != Expiry::Kind::kNever;
  });
  return any;
}

ValueForm FormOfRich(const RichValue& value, Now now) noexcept {
  switch (value.type) {
    case ValueType::kHash:
      return {.type = AnyDeadline(HashOf(value), now) ? type::kHashTtl : type::kHash,
              .members = HashOf(value).LiveAt(now)};
    case ValueType::kList:
      return {.type = type::kList, .members = value.Size()};
    case ValueType::kSet:
      return {.type = type::kSet, .members = SetOf(value).LiveAt(now)};
    case ValueType::kSortedSet:
      return {.type = type::kZset, .members = SortedSetOf(value).LiveAt(now)};
    case ValueType::kStream:
      return {.type = StreamTypeOf(StreamOf(value)), .members = 1};
    case ValueType::kString:
      break;
  }
  assert(false);
  return {};
}

void WriteHash(const HashValue& hash, Now now, Out& out) {
  hash.ForEachLiveAt(now, [&](std::string_view name, std::string_view value, Expiry) {
    out.String(name);
    out.String(value);
  });
}

// A field's deadline is written as its distance from the smallest one, plus 1; 0 stands for none.
void WriteTimedHash(const HashValue& hash, uint64_t members, Now now, Out& out) {
  uint64_t smallest_ms = UINT64_MAX;
  hash.ForEachLiveAt(now, [&](std::string_view, std::string_view, Expiry deadline) {
    if (deadline.kind != Expiry::Kind::kNever)
      smallest_ms = std::min(smallest_ms, deadline.On(Expiry::Kind::kWall, now));
  });
  out.Millis(static_cast<int64_t>(smallest_ms));
  out.Length(members);
  hash.ForEachLiveAt(now, [&](std::string_view name, std::string_view value, Expiry deadline) {
    const bool timed = deadline.kind != Expiry::Kind::kNever;
    out.Length(timed ? deadline.On(Expiry::Kind::kWall, now) - smallest_ms + 1 : 0);
    out.String(name);
    out.String(value);
  });
}

void WriteList(const ListValue& list, Out& out) {
  ListWalk walk(list, 0, ListEnd::kHead);
  for (size_t left = list.Size();;) {
    char room[PackItem::kRoom];
    out.String(walk.Text(room));
    if (--left == 0) return;
    walk.Next();
  }
}

void WriteRich(const RichValue& value, const ValueForm& form, Now now, Compression compression,
               std::string& bytes) {
  Out out(bytes, compression);
  if (form.type == type::kHashTtl) return WriteTimedHash(HashOf(value), form.members, now, out);
  if (value.type == ValueType::kStream) return WriteStream(StreamOf(value), form.type, compression, bytes);
  out.Length(form.members);
  switch (value.type) {
    case ValueType::kHash:
      return WriteHash(HashOf(value), now, out);
    case ValueType::kList:
      return WriteList(static_cast<const ListValue&>(value), out);
    case ValueType::kSet:
      return SetOf(value).ForEachLiveAt(now, [&](std::string_view member, Expiry) { out.String(member); });
    case ValueType::kSortedSet:
      return SortedSetOf(value).ForEachLiveAt(now, [&](std::string_view name, double score, Expiry) {
        out.String(name);
        out.Double(score);
      });
    case ValueType::kStream:
    case ValueType::kString:
      break;
  }
  assert(false);
}

}  // namespace

ValueForm FormOf(const Entry& entry, Now now) noexcept {
  ValueForm form{.type = type::kString, .members = 1};
  if (entry.encoding() == Encoding::kRich) form = FormOfRich(*entry.rich(), now);
  form.version = SmallestVersion(form.type);
  return form;
}

void WriteValue(const Entry& entry, const ValueForm& form, Now now, Compression compression,
                std::string& bytes) {
  assert(form.members != 0);
  if (entry.encoding() == Encoding::kRich) return WriteRich(*entry.rich(), form, now, compression, bytes);
  Out out(bytes, compression);
  if (entry.encoding() == Encoding::kInteger)
    out.IntegerString(entry.integer());
  else
    out.String(entry.text());
}

}  // namespace mayfly::rdb
