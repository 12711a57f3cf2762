#include "exec/values/sort_elements.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace mayfly {

void SortElements::Add(std::string_view text) {
  elements_.push_back({.text = bytes_.size(), .size = static_cast<uint32_t>(text.size())});
  bytes_.append(text).push_back('\0');
}

void SortElements::Load(const RichValue& value) {
  elements_.reserve(value.Size());
  value.ForEachMember(*this);
}

void SortElements::LoadRange(const ListValue& list, size_t first, size_t count, ListEnd from) {
  assert(count != 0);
  elements_.reserve(count);
  char room[PackItem::kRoom];
  ListWalk walk(list, first, from);
  for (; count != 0; --count, walk.Next()) Add(walk.Text(room));
}

void SortElements::Reverse() noexcept { std::reverse(elements_.begin(), elements_.end()); }

bool SortElements::ReadNumber(const char* text, size_t i) noexcept {
  char* end = nullptr;
  errno = 0;
  const double number = std::strtod(text, &end);
  if (*end != '\0' || errno == ERANGE || std::isnan(number)) return false;
  elements_[i].number = number;
  return true;
}

void SortElements::WeighByText(size_t i, std::string_view text) {
  elements_[i].weight = bytes_.size();
  elements_[i].weight_size = static_cast<uint32_t>(text.size());
  bytes_.append(text);
}

// `compare` returns a negative number, 0 or a positive number.
template <typename Compare>
void SortElements::SortBy(Compare&& compare, bool descending, size_t first, size_t count) {
  const auto less = [&](const Element& a, const Element& b) {
    const int order = compare(a, b);
    if (order != 0) return (order < 0) != descending;
    return a.text < b.text;
  };
  const auto at = [&](size_t i) { return elements_.begin() + static_cast<std::ptrdiff_t>(i); };
  if (first + count == elements_.size()) return std::sort(elements_.begin(), elements_.end(), less);
  std::partial_sort(elements_.begin(), at(first + count), elements_.end(), less);
}

void SortElements::Sort(Order order, bool descending, size_t first, size_t count) {
  assert(first + count <= size());
  if (count == 0) return;
  const auto own = [this](const Element& one) {
    return std::string_view(bytes_.data() + one.text, one.size);
  };
  const auto weight = [this](const Element& one) {
    return std::string_view(bytes_.data() + one.weight, one.weight_size);
  };
  switch (order) {
    case Order::kByNumber:
      return SortBy(
          [&](const Element& a, const Element& b) {
            return a.number != b.number ? (a.number < b.number ? -1 : 1) : own(a).compare(own(b));
          },
          descending, first, count);
    case Order::kByOwnText:
      return SortBy([&](const Element& a, const Element& b) { return own(a).compare(own(b)); }, descending,
                    first, count);
    case Order::kByText:
      return SortBy(
          [&](const Element& a, const Element& b) {
            if (a.weight == kNone || b.weight == kNone)
              return static_cast<int>(a.weight != kNone) - static_cast<int>(b.weight != kNone);
            return weight(a).compare(weight(b));
          },
          descending, first, count);
  }
}

}  // namespace mayfly
