#include "snapshot/values/function_text.h"

#include "snapshot/format/types.h"

namespace mayfly::rdb {
namespace {

ReadStatus ReadOldFunction(In& in, std::string& text, std::string_view& part) {
  std::string_view name;
  std::string_view engine;
  std::string_view code;
  uint64_t described = 0;
  const auto read = [&](std::string_view what, std::string_view& into) {
    part = what;
    return in.String(into);
  };
  ReadStatus status = read("library name", name);
  if (status != ReadStatus::kOk) return status;
  status = read("engine name", engine);
  if (status != ReadStatus::kOk) return status;
  text = "#!" + std::string(engine) + " name=" + std::string(name) + '\n';
  part = "library description indicator";
  status = in.Length(described);
  if (status != ReadStatus::kOk) return status;
  if (described != 0) status = read("library description", code);
  if (status != ReadStatus::kOk) return status;
  status = read("library blob", code);
  if (status == ReadStatus::kOk) text += code;
  return status;
}

}  // namespace

ReadStatus ReadFunction(In& in, uint8_t code, std::string& text, std::string_view& part) {
  if (code == opcode::kFunctionOld) return ReadOldFunction(in, text, part);
  part = "library payload";
  std::string_view read;
  const ReadStatus status = in.String(read);
  if (status == ReadStatus::kOk) text = read;
  return status;
}

void WriteFunction(std::string_view text, Out& out) {
  out.Byte(opcode::kFunction);
  out.String(text);
}

}  // namespace mayfly::rdb
