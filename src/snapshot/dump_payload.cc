#include "snapshot/dump_payload.h"

#include "snapshot/format/dump_footer.h"
#include "snapshot/values/value_out.h"

namespace mayfly {

std::string DumpPayloadOf(const Entry& entry, Now now) {
  std::string payload;
  const rdb::ValueForm form = rdb::FormOf(entry, now);
  if (form.members == 0) return payload;
  payload.push_back(static_cast<char>(form.type));
  rdb::WriteValue(entry, form, now, rdb::Compression::kLzf, payload);
  rdb::AppendDumpFooter(payload, static_cast<uint16_t>(form.version));
  return payload;
}

}  // namespace mayfly
