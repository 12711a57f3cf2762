// The interface for the output of INFO's sections: fields with name, kind and value. A sink may write the fields as INFO's
// text (info_text.h) or in another form, such as Prometheus's. A sink need not keep every field.
//
// A group is several numbers about one thing of a kind: the calls of one command, the keys of one database. The group's
// label has the kind and the thing as separate texts, for forms with labels.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace mayfly {

// A number with a fixed count of decimals.
struct InfoDecimal {
  double value;
  int decimals;
  std::string_view unit = {};  // "%"
};

// A text or a number. Texts are borrowed.
class InfoValue {
 public:
  // NOLINTBEGIN(google-explicit-constructor): so that a field is written as Field("name", value)
  InfoValue(std::string_view text) : value_(text) {}
  InfoValue(const std::string& text) : value_(std::string_view(text)) {}
  InfoValue(const char* text) : value_(std::string_view(text)) {}
  InfoValue(InfoDecimal decimal) : value_(decimal) {}
  template <std::signed_integral Number>
  InfoValue(Number number) : value_(int64_t{number}) {}
  template <std::unsigned_integral Number>
  InfoValue(Number number) : value_(uint64_t{number}) {}
  // NOLINTEND(google-explicit-constructor)

  using Kinds = std::variant<std::string_view, InfoDecimal, int64_t, uint64_t>;
  const Kinds& kinds() const noexcept { return value_; }

 private:
  Kinds value_;
};

// The subject of a group: {"cmdstat_", "command", "get"}. The name of the group in INFO's text is `prefix`, then `of`. For
// names chosen by clients and scripts, `of` may be any bytes.
struct InfoLabel {
  std::string_view prefix;
  std::string_view kind;
  std::string_view of;
};

struct InfoMember {
  std::string_view name;
  InfoValue value;
};

class InfoSink {
 public:
  InfoSink() = default;
  InfoSink(const InfoSink&) = delete;
  InfoSink& operator=(const InfoSink&) = delete;
  virtual ~InfoSink() = default;

  // The following fields belong to this section.
  virtual void Section(std::string_view title) = 0;
  virtual void Field(std::string_view name, const InfoValue& value) = 0;
  // A number of bytes, with a second form for people.
  virtual void Bytes(std::string_view name, uint64_t bytes) = 0;
  virtual void Group(const InfoLabel& label, std::span<const InfoMember> members) = 0;
  // True if the sink keeps this field. The sections call Wants before an expensive computation of a field.
  virtual bool Wants(std::string_view) const noexcept { return true; }

  void Fixed(std::string_view name, double value, int decimals, std::string_view unit = {}) {
    Field(name, InfoDecimal{value, decimals, unit});
  }
  // The memory of the sink itself, as the allocator counts memory.
  virtual size_t memory() const noexcept = 0;
};

}  // namespace mayfly
