// A candidate is what a CONFIG SET needs made ready before it is in force: memory, a file that was read, an open socket.
//
//   CONFIG SET --> prepare of each candidate --> the values are in force --> adopt of each --> followers
//                    | one of them refuses, or throws
//                    +--> drop of each that was asked, also of that one; nothing has changed
//
// Options::Prepare registers a candidate. Loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "config/problem.h"
#include "config/settings.h"

namespace mayfly::config {

// One that only refuses has nothing to adopt and nothing to drop.
struct Candidate {
  // Makes ready what these settings need. A problem refuses the CONFIG SET, and is the reason. May throw
  // std::bad_alloc, which refuses it, too.
  std::function<Problem(const Settings& wanted)> prepare;
  // One of these follows each prepare. They must not throw.
  std::function<void()> adopt = [] {};
  std::function<void()> drop = [] {};
};

// A candidate that keeps a value from prepare to adopt. It never refuses.
//
// `make(wanted)` returns the value as an std::optional; if that is empty, nothing is adopted. `adopt(value)` takes the
// value, as an rvalue, and must not throw.
template <typename Make, typename Adopt>
Candidate Keeping(Make make, Adopt adopt) {
  using Kept = std::invoke_result_t<Make&, const Settings&>;
  const auto kept = std::make_shared<Kept>();
  return {.prepare = [make, kept](const Settings& wanted) -> Problem {
            *kept = make(wanted);
            return std::nullopt;
          },
          .adopt =
              [adopt, kept] {
                if (kept->has_value()) adopt(std::move(**kept));
                kept->reset();
              },
          .drop = [kept] { kept->reset(); }};
}

}  // namespace mayfly::config
