#include "snapshot/values/module_skip.h"

#include "snapshot/format/types.h"

namespace mayfly::rdb {
namespace {

constexpr uint64_t kClassBytes = 4;  // of metadata

}  // namespace

ReadStatus ModuleSkip::Part(In& in) {
  uint64_t number = 0;
  const ReadStatus status = in.Length(number);
  if (status != ReadStatus::kOk) return status;
  switch (number) {
    case module_part::kEnd:
      inside_ = false;
      --blocks_;
      return status;
    case module_part::kSigned:
    case module_part::kUnsigned:
      return in.Length(number);
    case module_part::kFloat:
      return in.Skip(sizeof(float));
    case module_part::kDouble:
      return in.Skip(sizeof(double));
    case module_part::kString:
      return in.SkipString();
    default:
      return ReadStatus::kBad;
  }
}

ReadStatus ModuleSkip::Step(In& in) {
  if (kind_ == Kind::kMetadata && !counted_) {
    const ReadStatus status = in.Length(blocks_);
    counted_ = status == ReadStatus::kOk;
    return status;
  }
  if (inside_) return Part(in);
  uint64_t id = 0;
  const ReadStatus status = kind_ == Kind::kMetadata ? in.Skip(kClassBytes) : in.Length(id);
  inside_ = status == ReadStatus::kOk;
  return status;
}

ValueStatus ModuleSkip::Some(In& in, size_t& budget) {
  while (blocks_ != 0) {
    if (budget == 0) return ValueStatus::kSpent;
    if (const ReadStatus status = ReadWhole(in, [&] { return Step(in); }); status != ReadStatus::kOk)
      return NotOk(status);
    Spend(budget, 1);
  }
  return ValueStatus::kDone;
}

}  // namespace mayfly::rdb
