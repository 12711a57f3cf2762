// A text about the server, built in parts, with service for clients in between.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/time/clock.h"

namespace mayfly {

class Page {
 public:
  Page() = default;
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  virtual ~Page() = default;

  // Builds a part in a fraction of a slice (expire-slice-us). Returns true if more is left. Throws std::bad_alloc.
  [[nodiscard]] virtual bool BuildSome(Now now) = 0;
  // The approximate memory of the page.
  virtual size_t memory() const noexcept = 0;
  // REQUIRES: BuildSome has returned false.
  virtual std::string Take() = 0;
};

}  // namespace mayfly
