// The text of INFO: "# Section", then "field:value" lines, and an empty line between sections. All lines end with
// "\r\n". A group is one line: "cmdstat_get:calls=2,usec=5".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "exec/info/info_sink.h"

namespace mayfly {

class InfoText final : public InfoSink {
 public:
  void Section(std::string_view title) override;
  void Field(std::string_view name, const InfoValue& value) override;
  void Bytes(std::string_view name, uint64_t bytes) override;
  void Group(const InfoLabel& label, std::span<const InfoMember> members) override;
  size_t memory() const noexcept override;

  std::string Take() noexcept { return std::move(text_); }

 private:
  void Append(const InfoValue& value);

  std::string text_;
};

}  // namespace mayfly
