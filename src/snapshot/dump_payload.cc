#include "snapshot/dump_payload.h"

#include "snapshot/format/dump_footer.h"
#include "snapshot/values/value_out.h"

namespace mayfly {

namespace {

std::string PayloadOf(const Entry& entry, const rdb::ValueForm& form, rdb::Compression compression, Now now) {
  std::string payload;
  if (form.members == 0) return payload;
  payload.push_back(static_cast<char>(form.type));
  rdb::WriteValue(entry, form, now, compression, payload);
  rdb::AppendDumpFooter(payload, static_cast<uint16_t>(form.version));
  return payload;
}

}  // namespace

std::string DumpPayloadOf(const Entry& entry, Now now) {
  return PayloadOf(entry, rdb::FormOf(entry, now), rdb::Compression::kLzf, now);
}

std::string PlainPayloadOf(const Entry& entry, Now now) {
  return PayloadOf(entry, rdb::PlainForm(rdb::FormOf(entry, now)), rdb::Compression::kNone, now);
}

}  // namespace mayfly
