#include "snapshot/values/module_skip.h"

#include "snapshot/format/types.h"
#include "unit/snapshot/values/packed_by_hand.h"
#include "unit/snapshot/values/value_rig.h"

namespace mayfly::rdb {
namespace {

TEST_CASE("a module's value is skipped by its parts") {
  ByHand object(type::kModule);
  object.Count(UINT64_MAX - 5);
  object.Count(module_part::kSigned).Count(7).Count(module_part::kUnsigned).Count(UINT64_MAX);
  object.Count(module_part::kFloat).Raw("1234").Count(module_part::kDouble).Raw("12345678");
  object.Count(module_part::kString).Text("a text").Count(module_part::kEnd);
  const std::string_view value = std::string_view(object.bytes()).substr(1);
  for (size_t size = 0; size <= value.size(); ++size) {
    CAPTURE(size);
    const ExactBlock block(value.substr(0, size));
    In in(block.view());
    ModuleSkip skip;
    size_t budget = 2;
    ValueStatus status = ValueStatus::kSpent;
    while (status == ValueStatus::kSpent) {
      budget = 2;
      status = skip.Some(in, budget);
    }
    CHECK(status == (size == value.size() ? ValueStatus::kDone : ValueStatus::kMore));
    if (status == ValueStatus::kMore) {
      // The same goes on with the rest.
      const ExactBlock rest(value.substr(in.at()));
      in.SetWindow(rest.view());
      budget = SIZE_MAX;
      CHECK(skip.Some(in, budget) == ValueStatus::kDone);
      CHECK(in.rest().empty());
    }
  }
}

TEST_CASE("metadata of modules is skipped class by class") {
  ByHand object(type::kModule);
  object.Count(2);
  object.Raw("abcd").Count(module_part::kString).Text("a text").Count(module_part::kEnd);
  object.Raw("efgh").Count(module_part::kUnsigned).Count(7).Count(module_part::kEnd);
  const std::string_view metadata = std::string_view(object.bytes()).substr(1);
  for (size_t size = 0; size <= metadata.size(); ++size) {
    CAPTURE(size);
    const ExactBlock block(metadata.substr(0, size));
    In in(block.view());
    ModuleSkip skip(ModuleSkip::Kind::kMetadata);
    size_t budget = SIZE_MAX;
    const bool whole = size == metadata.size();
    CHECK(skip.Some(in, budget) == (whole ? ValueStatus::kDone : ValueStatus::kMore));
  }
}

TEST_CASE("an unknown part of a module's value is damage") {
  ByHand object(type::kModule);
  object.Count(1).Count(6);
  In in(std::string_view(object.bytes()).substr(1));
  size_t budget = SIZE_MAX;
  CHECK(ModuleSkip().Some(in, budget) == ValueStatus::kBad);
}

}  // namespace
}  // namespace mayfly::rdb
