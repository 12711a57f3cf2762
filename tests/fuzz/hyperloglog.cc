// Any bytes as a HyperLogLog: counted, merged and changed, or called corrupt, but never read beyond their end.
#include "base/bits/hyperloglog.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/bits/hyperloglog_draft.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mayfly;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!hll::IsHyperLogLog(bytes)) return 0;
  hll::StoredCount(bytes);
  const bool valid = hll::Count(bytes).has_value();
  hll::Registers registers;
  if (registers.Merge(bytes) != valid) std::abort();
  hll::Draft draft(bytes);
  for (size_t i = 0; i + 1 < size; i += 2) {
    const size_t index = (size_t{data[i]} << 8U | data[i + 1]) % hll::kRegisters;
    const auto rank = static_cast<uint8_t>(1 + data[i] % 51);
    draft.Raise({index, rank}, size_t{data[i + 1]} * 64);
  }
  if (valid && !hll::Count(draft.bytes())) std::abort();
  draft.BecomeDense();
  return 0;
}
