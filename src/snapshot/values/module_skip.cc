#include "snapshot/values/module_skip.h"

#include "snapshot/format/types.h"

namespace mayfly::rdb {

ReadStatus ModuleSkip::Part(In& in) {
  uint64_t number = 0;
  const ReadStatus status = in.Length(number);
  if (status != ReadStatus::kOk) return status;
  if (!has_name_) {
    has_name_ = true;
    return status;
  }
  switch (number) {
    case module_part::kEnd:
      ended_ = true;
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

ValueStatus ModuleSkip::Some(In& in, size_t& budget) {
  while (!ended_) {
    if (budget == 0) return ValueStatus::kSpent;
    if (const ReadStatus status = ReadWhole(in, [&] { return Part(in); }); status != ReadStatus::kOk)
      return NotOk(status);
    Spend(budget, 1);
  }
  return ValueStatus::kDone;
}

}  // namespace mayfly::rdb
