#include "snapshot/values/value_in.h"

#include "snapshot/format/types.h"

namespace mayfly::rdb {

ValueStatus ValueIn::Text::Some(In& in, size_t& budget) {
  const ReadStatus status = in.String(text);
  if (status != ReadStatus::kOk) return NotOk(status);
  Spend(budget, 1);
  return ValueStatus::kDone;
}

bool ValueIn::Begin(uint8_t type, const Source& source) {
  const ReadingTerms terms{.limits = limits_,
                           .home = source.home,
                           .now = source.now,
                           .valkey = source.valkey,
                           .ttls = source.ttls};
  reader_ = std::monostate();
  if (type == type::kString)
    reader_.emplace<Text>();
  else if (HashIn::Knows(type))
    reader_.emplace<HashIn>(type, terms);
  else if (ListIn::Knows(type))
    reader_.emplace<ListIn>(type, terms);
  else if (SetIn::Knows(type))
    reader_.emplace<SetIn>(type, terms);
  else if (SortedSetIn::Knows(type))
    reader_.emplace<SortedSetIn>(type, terms);
  else if (StreamIn::Knows(type))
    reader_.emplace<StreamIn>(type, terms);
  else
    return false;
  return true;
}

ValueStatus ValueIn::Some(In& in, size_t& budget) {
  return std::visit(
      [&](auto& reader) {
        if constexpr (requires { reader.Some(in, budget); }) {
          return reader.Some(in, budget);
        } else {
          assert(false);
          return ValueStatus::kBad;
        }
      },
      reader_);
}

std::unique_ptr<RichValue> ValueIn::TakeRich() noexcept {
  return std::visit(
      [](auto& reader) -> std::unique_ptr<RichValue> {
        if constexpr (requires { reader.Take(); })
          return reader.Take();
        else
          return nullptr;
      },
      reader_);
}

size_t ValueIn::expired_fields() const noexcept {
  const HashIn* const hash = std::get_if<HashIn>(&reader_);
  return hash != nullptr ? hash->expired_fields() : 0;
}

size_t ValueIn::dropped_groups() const noexcept {
  const StreamIn* const stream = std::get_if<StreamIn>(&reader_);
  return stream != nullptr ? stream->dropped_groups() : 0;
}

}  // namespace mayfly::rdb
