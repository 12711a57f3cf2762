// SETBIT, GETBIT, BITCOUNT and BITPOS: strings as bits.
#include "base/bits/bits.h"
#include "exec/arguments/bit_offset.h"
#include "exec/arguments/index_range.h"
#include "exec/values/string_edit.h"

namespace mayfly::bitmap_commands {
namespace {

constexpr Event kSetBit{"setbit"};

void SetBit(Context& ctx, Args& args) {
  const std::optional<uint64_t> offset = ReadBitOffset(ctx, args[2]);
  if (!offset) return;
  const std::optional<int64_t> bit = ParseInteger(args[3]);
  if (!bit || (*bit != 0 && *bit != 1)) return ctx.Fail("ERR bit is not an integer or out of range");
  const Key key = ctx.KeyAt(args, 1);
  Entry* existing = nullptr;
  if (!FindString(ctx, key, existing)) return;
  const size_t size = *offset / kByteBits + 1;
  bool old = false;
  const Effect effect{.command = "SETBIT", .arguments = args.all().subspan(2)};
  EditString(ctx, key, existing, {size - 1, size}, kSetBit.With(effect), [&](char* bytes) {
    old = BitAt({bytes, size}, *offset);
    SetBitAt(bytes, *offset, *bit == 1);
    return old != (*bit == 1);
  });
  ctx.reply.Integer(old ? 1 : 0);
}

void GetBit(Context& ctx, Args& args) {
  const std::optional<uint64_t> offset = ReadBitOffset(ctx, args[2]);
  if (!offset) return;
  const Entry* const entry = ReadString(ctx, ctx.KeyAt(args, 1), [&] { ctx.reply.Integer(0); });
  if (entry == nullptr) return;
  char digits[kMaxIntegerText];
  ctx.reply.Integer(BitAt(TextOf(*entry, digits), *offset) ? 1 : 0);
}

// A part of a string by two indices, of bytes or of bits.
struct Stretch {
  int64_t start = 0;
  int64_t end = -1;
  bool in_bits = false;

  // Moves past "BYTE" or "BIT"; returns false for any other word.
  bool TakeUnit(Args& args) noexcept {
    in_bits = args.Accept("BIT");
    return in_bits || args.Accept("BYTE");
  }
  // The size of the text in units.
  uint64_t UnitsOf(std::string_view text) const noexcept {
    return in_bits ? BitsOf(text.size()) : text.size();
  }
  IndexRange ToBits(IndexRange units) const noexcept {
    if (in_bits) return units;
    return {BitsOf(units.first), BitsOf(units.last + 1) - 1};
  }
};

// The first of two wrong arguments gets the error: BITCOUNT reads both numbers before the unit, BITPOS the unit before the
// end.
enum class FirstRead : uint8_t { kNumbers, kUnit };

// Reads "[start [end [BYTE|BIT]]]". Returns false after an error reply.
bool ReadStretch(Context& ctx, Args& args, FirstRead first, Stretch& stretch) {
  constexpr size_t kMost = 3;
  if (args.Left() > kMost) return ctx.Fail(errors::kSyntax), false;
  if (args.Done()) return true;
  const std::optional<int64_t> start = args.NextInteger();
  if (!start) return ctx.Fail(errors::kNotInteger), false;
  stretch.start = *start;
  if (args.Done()) return true;
  const std::optional<int64_t> end = args.NextInteger();
  if (!end && first == FirstRead::kNumbers) return ctx.Fail(errors::kNotInteger), false;
  if (!args.Done() && !stretch.TakeUnit(args)) return ctx.Fail(errors::kSyntax), false;
  if (!end) return ctx.Fail(errors::kNotInteger), false;
  stretch.end = *end;
  return true;
}

// As in Redis since 7.2, all arguments are read before the key is looked up; earlier versions answer 0 for an absent key and
// ignore later arguments.
void BitCount(Context& ctx, Args& args) {
  Stretch stretch;
  const Key key = ctx.KeyAt(args, 1);
  args.Skip(1);
  if (!ReadStretch(ctx, args, FirstRead::kNumbers, stretch)) return;
  const Entry* const entry = ReadString(ctx, key, [&] { ctx.reply.Integer(0); });
  if (entry == nullptr) return;
  char digits[kMaxIntegerText];
  const std::string_view text = TextOf(*entry, digits);
  const std::optional<IndexRange> units = ClipOrderedRange(stretch.start, stretch.end, stretch.UnitsOf(text));
  if (!units) return ctx.reply.Integer(0);
  const IndexRange bits = stretch.ToBits(*units);
  ctx.reply.Integer(static_cast<int64_t>(CountOnes(text, bits.first, bits.last)));
}

void BitPos(Context& ctx, Args& args) {
  constexpr size_t kWithEnd = 5;
  const Key key = ctx.KeyAt(args, 1);
  args.Skip(1);
  const std::optional<int64_t> bit = args.NextInteger();
  if (!bit) return ctx.Fail(errors::kNotInteger);
  if (*bit != 0 && *bit != 1) return ctx.Fail("ERR The bit argument must be 1 or 0.");
  const bool wanted = *bit == 1;
  const bool end_given = args.size() >= kWithEnd;
  Stretch stretch;
  if (!ReadStretch(ctx, args, FirstRead::kUnit, stretch)) return;
  const Entry* const entry = ReadString(ctx, key, [&] { ctx.reply.Integer(wanted ? -1 : 0); });
  if (entry == nullptr) return;
  char digits[kMaxIntegerText];
  const std::string_view text = TextOf(*entry, digits);
  const std::optional<IndexRange> units = ClipRange(stretch.start, stretch.end, stretch.UnitsOf(text));
  if (!units) return ctx.reply.Integer(-1);
  const IndexRange bits = stretch.ToBits(*units);
  const std::optional<uint64_t> found = FindBit(text, wanted, bits.first, bits.last);
  if (found) return ctx.reply.Integer(static_cast<int64_t>(*found));
  // Without an end, the string counts as followed by zeros.
  ctx.reply.Integer(wanted || end_given ? -1 : static_cast<int64_t>(BitsOf(text.size())));
}

constexpr KeySpec kBitsRead = {1, 1, 1, kKeyRO | kKeyAccess};

constexpr Command kRows[] = {
    {.name = "setbit",
     .arity = 4,
     .flags = kWrite | kDenyOom,
     .keys = {1, 1, 1, kKeyRW | kKeyAccess | kKeyUpdate},
     .acl = kAclBitmap,
     .handler = SetBit,
     .since = "2.2.0",
     .complexity = "O(1)",
     .summary =
         "Sets or clears a bit of a string value and answers with the old one; the string grows as needed.",
     .syntax = "key offset bit",
     .argument_notes = "bit=value"},
    {.name = "getbit",
     .arity = 3,
     .flags = kReadOnly | kFast,
     .keys = kBitsRead,
     .acl = kAclBitmap,
     .handler = GetBit,
     .since = "2.2.0",
     .complexity = "O(1)",
     .summary = "Answers with a bit of a string value.",
     .syntax = "key offset"},
    {.name = "bitcount",
     .arity = -2,
     .flags = kReadOnly,
     .keys = kBitsRead,
     .acl = kAclBitmap,
     .handler = BitCount,
     .since = "2.6.0",
     .complexity = "O(N) where N is the length of the value",
     .summary = "Counts the bits of a string value, or of a part of it, that are 1.",
     .syntax = "key [start [end [BYTE | BIT]]]",
     .argument_notes = "start_end_condition=range end_condition=end-unit-block condition=unit@7.0.0",
     .notes = "Without an end it counts up to the last byte, as in Valkey 8.0; Redis refuses that."},
    {.name = "bitpos",
     .arity = -3,
     .flags = kReadOnly,
     .keys = kBitsRead,
     .acl = kAclBitmap,
     .handler = BitPos,
     .since = "2.8.7",
     .complexity = "O(N) where N is the length of the value",
     .summary = "Finds the first bit of a string value, or of a part of it, that is 1 or 0.",
     .syntax = "key bit [start [end [BYTE | BIT]]]",
     .argument_notes = "start_end_condition=index end_condition=end_index condition=index_unit@7.0.0"},
};
const CommandFamily kFamily("bitmap", kRows);

}  // namespace
}  // namespace mayfly::bitmap_commands
