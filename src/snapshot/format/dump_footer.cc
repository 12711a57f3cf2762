#include "snapshot/format/dump_footer.h"

#include "snapshot/format/byte_order.h"
#include "snapshot/format/crc64.h"
#include "snapshot/format/types.h"

namespace mayfly::rdb {

void AppendDumpFooter(std::string& payload, uint16_t version) {
  payload.reserve(payload.size() + kDumpFooterBytes);
  AppendLittle(payload, version, sizeof version);
  AppendLittle(payload, Crc64(0, payload), sizeof(uint64_t));
}

std::optional<DumpPayload> CheckDumpFooter(std::string_view payload) noexcept {
  if (payload.size() < kDumpFooterBytes) return std::nullopt;
  const std::string_view summed = payload.substr(0, payload.size() - sizeof(uint64_t));
  if (LoadLittle<uint64_t>(summed.data() + summed.size()) != Crc64(0, summed)) return std::nullopt;
  const std::string_view value = summed.substr(0, summed.size() - sizeof(uint16_t));
  return DumpPayload{LoadLittle<uint16_t>(value.data() + value.size()), value};
}

std::optional<DumpPayload> OpenDumpPayload(std::string_view payload) noexcept {
  const std::optional<DumpPayload> opened = CheckDumpFooter(payload);
  const bool known = opened && (opened->version <= version::kNewest || opened->version == version::kValkey9);
  return known ? opened : std::nullopt;
}

}  // namespace mayfly::rdb
