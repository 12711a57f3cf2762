#include "base/bits/bit_field.h"

#include "support/catch.h"

namespace mayfly {

TEST_CASE("a field's type is parsed as a sign and a width") {
  for (const char* text : {"", "i", "u", "i0", "u0", "i65", "u64", "x8", "I8", "u-1", "u08", "u8 ", "8"}) {
    INFO("text: " << text);
    CHECK_FALSE(FieldType::Parse(text));
  }
  const std::optional<FieldType> i64 = FieldType::Parse("i64");
  REQUIRE(i64);
  CHECK(i64->is_signed);
  CHECK(i64->width == 64);
  const std::optional<FieldType> u63 = FieldType::Parse("u63");
  REQUIRE(u63);
  CHECK_FALSE(u63->is_signed);
  CHECK(u63->width == 63);
}

TEST_CASE("the highest bit of a signed field is its sign") {
  CHECK(FieldType{true, 1}.ValueOf(1) == -1);
  CHECK(FieldType{true, 8}.ValueOf(0x7F) == 127);
  CHECK(FieldType{true, 8}.ValueOf(0x80) == -128);
  CHECK(FieldType{true, 64}.ValueOf(UINT64_MAX) == -1);
  CHECK(FieldType{false, 8}.ValueOf(0x80) == 128);
  CHECK(FieldType{false, 63}.ValueOf(INT64_MAX) == INT64_MAX);
}

TEST_CASE("a field holds every value that fits") {
  for (const FieldOverflow overflow :
       {FieldOverflow::kWrap, FieldOverflow::kSaturate, FieldOverflow::kFail}) {
    CHECK(SetField({false, 8}, 255, overflow) == 255U);
    CHECK(SetField({true, 8}, -128, overflow) == 128U);
    CHECK(SetField({true, 64}, INT64_MIN, overflow) == uint64_t{1} << 63);
    CHECK(AddToField({true, 64}, INT64_MIN, INT64_MAX, overflow) == UINT64_MAX);
    CHECK(AddToField({false, 63}, INT64_MAX, -1, overflow) == uint64_t{INT64_MAX} - 1);
  }
}

TEST_CASE("a value that does not fit wraps, saturates or fails") {
  CHECK(SetField({false, 8}, 256, FieldOverflow::kWrap) == 0U);
  CHECK(SetField({false, 8}, 256, FieldOverflow::kSaturate) == 255U);
  CHECK_FALSE(SetField({false, 8}, 256, FieldOverflow::kFail));
  // A negative number is a large unsigned one.
  CHECK(SetField({false, 8}, -1, FieldOverflow::kSaturate) == 255U);
  CHECK(SetField({true, 8}, 128, FieldOverflow::kWrap) == 128U);
  CHECK(SetField({true, 8}, 128, FieldOverflow::kSaturate) == 127U);
  // Redis 7.0 saturates at the wrong end here, because its distance to the limit overflows.
  CHECK(SetField({true, 8}, INT64_MIN, FieldOverflow::kSaturate) == 128U);
  CHECK(AddToField({true, 64}, INT64_MAX, 1, FieldOverflow::kWrap) == uint64_t{1} << 63);
  CHECK(AddToField({true, 64}, INT64_MAX, 1, FieldOverflow::kSaturate) == uint64_t{INT64_MAX});
  CHECK_FALSE(AddToField({true, 64}, INT64_MIN, -1, FieldOverflow::kFail));
  CHECK(AddToField({false, 4}, 3, -4, FieldOverflow::kWrap) == 15U);
  CHECK(AddToField({false, 4}, 3, -4, FieldOverflow::kSaturate) == 0U);
}

}  // namespace mayfly
