#include "snapshot/values/value_in.h"

#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"

namespace mayfly::rdb {

ValueStatus ValueIn::Text::Some(In& in, size_t& budget, uint64_t following) {
  if (!block) {
    const size_t start = in.at();
    StringHead head;
    if (const ReadStatus status = in.HeadOfString(head); status != ReadStatus::kOk) return NotOk(status);
    const uint64_t here = in.rest().size();
    const bool sliced = head.kind == StringHead::Kind::kRaw && head.size > Out::kMostCompressed &&
                        head.size > here && head.size <= here + following;
    if (!sliced) {
      in.Rewind(start);
      const ReadStatus status = in.String(text);
      if (status != ReadStatus::kOk) return NotOk(status);
      Spend(budget, 1 + text.size() / kBytesOfElement);
      return ValueStatus::kDone;
    }
    block = SharedBytes::Allocate(head.size);
    filled = 0;
  }
  if (budget == 0) return ValueStatus::kSpent;
  const std::string_view part = in.rest().substr(0, block.size() - filled);
  part.copy(block.data() + filled, part.size());
  filled += part.size();
  Spend(budget, 1 + part.size() / kBytesOfElement);
  static_cast<void>(in.Skip(part.size()));
  return filled == block.size() ? ValueStatus::kDone : ValueStatus::kMore;
}

bool ValueIn::Begin(uint8_t type, const Source& source) {
  const ReadingTerms terms{.limits = limits_,
                           .home = source.home,
                           .now = source.now,
                           .valkey = source.valkey,
                           .ttls = source.ttls,
                           .keeps_due = source.keeps_due};
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
        if constexpr (requires { reader.Some(in, budget, following_); }) {
          return reader.Some(in, budget, following_);
        } else if constexpr (requires { reader.Some(in, budget); }) {
          return reader.Some(in, budget);
        } else {
          assert(false);
          return ValueStatus::kBad;
        }
      },
      reader_);
}

std::unique_ptr<RichValue> ValueIn::TakeRich() noexcept {
  if (reader_.valueless_by_exception()) return nullptr;  // memory ran out in Begin
  return std::visit(
      [](auto& reader) -> std::unique_ptr<RichValue> {
        if constexpr (requires { reader.Take(); })
          return reader.Take();
        else
          return nullptr;
      },
      reader_);
}

bool ValueIn::wrong_length() const noexcept {
  const StreamIn* const stream = std::get_if<StreamIn>(&reader_);
  return stream != nullptr && stream->wrong_length();
}

size_t ValueIn::expired_fields() const noexcept {
  const HashIn* const hash = std::get_if<HashIn>(&reader_);
  return hash != nullptr ? hash->expired_fields() : 0;
}

}  // namespace mayfly::rdb
