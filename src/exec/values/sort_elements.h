// The elements of SORT: copied out of a value, each with its sort key. SORT orders the copies, and may read and write keys
// meanwhile.
//
// Order: by weight, then by the element's own text if the weights are numbers; equal elements stay in their first order. An
// element without a weight comes before elements with a text, and counts as the number 0.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/entry/rich_value.h"
#include "cache/types/list_value.h"

namespace mayfly {

class SortElements final : private MemberVisitor {
 public:
  enum class Order : uint8_t { kByNumber, kByText, kByOwnText };

  // Copies all elements of a list, a set or a sorted set. Throws std::bad_alloc.
  void Load(const RichValue& value);
  // Copies `count` elements from `first` on, away from `from`. REQUIRES: `count` elements are there, and count is not 0.
  void LoadRange(const ListValue& list, size_t first, size_t count, ListEnd from);
  // Reverses the order.
  void Reverse() noexcept;

  size_t size() const noexcept { return elements_.size(); }
  std::string_view operator[](size_t i) const noexcept {
    return {bytes_.data() + elements_[i].text, elements_[i].size};
  }
  // Gives an element the number in `text`, read by strtod's rules; false if the text is no number.
  bool WeighByNumber(size_t i, const std::string& text) noexcept { return ReadNumber(text.c_str(), i); }
  bool WeighByOwnNumber(size_t i) noexcept { return ReadNumber(bytes_.data() + elements_[i].text, i); }
  // Throws std::bad_alloc.
  void WeighByText(size_t i, std::string_view text);
  // Brings `count` elements from `first` on to their places in the full order. REQUIRES: first + count <= size().
  void Sort(Order order, bool descending, size_t first, size_t count);

 private:
  struct Element {
    size_t text;    // the text's place in bytes_; rises in the order of loading
    uint32_t size;  // of the text
    uint32_t weight_size = 0;
    double number = 0;
    size_t weight = kNone;  // the place of the weight's text in bytes_
  };
  static constexpr size_t kNone = SIZE_MAX;

  void Visit(std::span<const std::string_view> parts) override { Add(parts[0]); }
  void Add(std::string_view text);
  bool ReadNumber(const char* text, size_t i) noexcept;
  template <typename Compare>
  void SortBy(Compare&& compare, bool descending, size_t first, size_t count);

  std::string bytes_;  // each text ends with a zero byte
  std::vector<Element> elements_;
};

}  // namespace mayfly
