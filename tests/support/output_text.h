// All pending bytes of an OutputChain as one string.
#pragma once

#include <array>
#include <string>

#include "base/memory/output.h"

namespace mayfly {

inline std::string OutputText(const OutputChain& out) {
  std::array<OutputPiece, 1024> pieces;
  const size_t count = out.Gather(pieces);
  std::string text;
  for (size_t i = 0; i < count; ++i) text.append(pieces[i].data, pieces[i].size);
  return text;
}

}  // namespace mayfly
