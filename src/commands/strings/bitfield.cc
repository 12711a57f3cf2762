// BITFIELD and BITFIELD_RO: integers of any width within a string.
#include <algorithm>
#include <vector>

#include "base/bits/bit_field.h"
#include "base/bits/bits.h"
#include "exec/arguments/bit_offset.h"
#include "exec/arguments/word.h"
#include "exec/values/string_edit.h"

namespace mayfly::bitfield_commands {
namespace {

enum class FieldAction : uint8_t { kGet, kSet, kAdd };

struct FieldOperation {
  FieldAction action = FieldAction::kGet;
  FieldOverflow overflow = FieldOverflow::kWrap;
  FieldType type;
  uint64_t offset = 0;
  int64_t operand = 0;

  uint64_t end() const noexcept { return offset + type.width; }
};

// The operations of a request, in order.
struct FieldPlan {
  std::vector<FieldOperation> operations;
  uint64_t first_written_bit = UINT64_MAX;
  uint64_t written_bits = 0;  // end of the last written field; 0: no field is written
};

bool ReadOverflow(Context& ctx, std::string_view word, FieldOverflow& overflow) {
  switch (WordOf(word)) {
    case WordOf("WRAP"):
      overflow = FieldOverflow::kWrap;
      return true;
    case WordOf("SAT"):
      overflow = FieldOverflow::kSaturate;
      return true;
    case WordOf("FAIL"):
      overflow = FieldOverflow::kFail;
      return true;
    default:
      ctx.Fail("ERR Invalid OVERFLOW type specified");
      return false;
  }
}

// Reads type, offset and operand, after the word of the action. Returns false after an error reply.
bool ReadOperation(Context& ctx, Args& args, FieldOperation& operation) {
  const std::optional<FieldType> type = FieldType::Parse(args.Next());
  if (!type) {
    ctx.Fail(
        "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.");
    return false;
  }
  const std::optional<uint64_t> offset = ReadBitOffset(ctx, args.Next(), type->width);
  if (!offset) return false;
  operation.type = *type;
  operation.offset = *offset;
  if (operation.action == FieldAction::kGet) return true;
  const std::optional<int64_t> operand = args.NextInteger();
  if (!operand) return ctx.Fail(errors::kNotInteger), false;
  operation.operand = *operand;
  return true;
}

// Returns false after an error reply.
bool ReadPlan(Context& ctx, Args& args, FieldPlan& plan) {
  FieldOverflow overflow = FieldOverflow::kWrap;
  while (!args.Done()) {
    FieldOperation operation;
    if (args.Accept("OVERFLOW", 1)) {
      if (!ReadOverflow(ctx, args.Next(), overflow)) return false;
      continue;
    }
    if (args.Accept("SET", 3)) {
      operation.action = FieldAction::kSet;
    } else if (args.Accept("INCRBY", 3)) {
      operation.action = FieldAction::kAdd;
    } else if (!args.Accept("GET", 2)) {
      return ctx.Fail(errors::kSyntax), false;
    }
    operation.overflow = overflow;
    if (!ReadOperation(ctx, args, operation)) return false;
    if (operation.action != FieldAction::kGet) {
      plan.first_written_bit = std::min(plan.first_written_bit, operation.offset);
      plan.written_bits = std::max(plan.written_bits, operation.end());
    }
    plan.operations.push_back(operation);
  }
  return true;
}

int64_t ValueAt(std::string_view text, const FieldOperation& operation) noexcept {
  return operation.type.ValueOf(ReadBits(text, operation.offset, operation.type.width));
}

void ReplyFields(Context& ctx, const FieldPlan& plan, std::string_view text) {
  ctx.reply.Array(plan.operations.size());
  for (const FieldOperation& operation : plan.operations) ctx.reply.Integer(ValueAt(text, operation));
}

// SET answers with the old value, INCRBY with the new value, and both with null if OVERFLOW FAIL prevented the change.
// Returns true if the field has changed.
bool RunOperation(Context& ctx, const FieldOperation& operation, char* bytes, size_t size) {
  const int64_t old = ValueAt({bytes, size}, operation);
  if (operation.action == FieldAction::kGet) return ctx.reply.Integer(old), false;
  const bool sets = operation.action == FieldAction::kSet;
  const std::optional<uint64_t> next =
      sets ? SetField(operation.type, operation.operand, operation.overflow)
           : AddToField(operation.type, old, operation.operand, operation.overflow);
  if (!next) return ctx.reply.Null(), false;
  WriteBits(bytes, operation.offset, operation.type.width, *next);
  const int64_t value = operation.type.ValueOf(*next);
  ctx.reply.Integer(sets ? old : value);
  return value != old;
}

void RunReadOnly(Context& ctx, const Key& key, const FieldPlan& plan) {
  const Entry* const entry = ReadString(ctx, key, [&] { ReplyFields(ctx, plan, ""); });
  if (entry == nullptr) return;
  char digits[kMaxIntegerText];
  ReplyFields(ctx, plan, TextOf(*entry, digits));
}

void BitField(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  args.Skip(1);
  FieldPlan plan;
  if (!ReadPlan(ctx, args, plan)) return;
  if (plan.written_bits == 0) return RunReadOnly(ctx, key, plan);
  Entry* existing = nullptr;
  if (!FindString(ctx, key, existing)) return;
  const size_t old = existing != nullptr ? existing->TextLength() : 0;
  const EditedBytes edited{.begin = plan.first_written_bit / kByteBits,
                           .end = (plan.written_bits + kByteBits - 1) / kByteBits};
  const size_t size = std::max(old, edited.end);
  constexpr static Event kSetBit{"setbit"};  // Redis's event for BITFIELD
  const Effect effect{.command = "BITFIELD", .arguments = args.all().subspan(2)};
  EditString(ctx, key, existing, edited, kSetBit.With(effect), [&](char* bytes) {
    ctx.reply.Array(plan.operations.size());
    bool changed = false;
    for (const FieldOperation& operation : plan.operations)
      changed |= RunOperation(ctx, operation, bytes, size);
    return changed;
  });
}

void BitFieldRo(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  args.Skip(1);
  FieldPlan plan;
  if (!ReadPlan(ctx, args, plan)) return;
  if (plan.written_bits != 0) return ctx.Fail("ERR BITFIELD_RO only supports the GET subcommand");
  RunReadOnly(ctx, key, plan);
}

// A call of complete GETs and OVERFLOWs only reads the key; any other call may write the key.
uint16_t KeyUseOfBitField(std::span<const std::string_view> call) {
  constexpr uint16_t kReads = kKeyRO | kKeyAccess;
  constexpr uint16_t kWrites = kKeyRW | kKeyAccess | kKeyUpdate;
  size_t at = 2;
  while (at < call.size()) {
    if (EqualsIgnoringCase(call[at], "GET") && at + 2 < call.size()) {
      at += 3;
    } else if (EqualsIgnoringCase(call[at], "OVERFLOW") && at + 1 < call.size()) {
      at += 2;
    } else {
      return kWrites;
    }
  }
  return kReads;
}

constexpr Command kRows[] = {
    {.name = "bitfield",
     .arity = -2,
     .flags = kWrite | kDenyOom,
     .keys = {1, 1, 1, kKeyRW | kKeyAccess | kKeyUpdate | kKeyVariableFlags,
              "RW and UPDATE only where a field is set or incremented"},
     .key_use = KeyUseOfBitField,
     .acl = kAclBitmap,
     .handler = BitField,
     .since = "3.2.0",
     .complexity = "O(1) for each operation",
     .summary = "Reads, sets and increments integers of any width within a string value.",
     .syntax = "key [GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] <SET encoding offset integer | "
               "INCRBY encoding offset increment>] ...",
     .argument_notes =
         "option=operation GET=encoding_offset overflow_option=write OVERFLOW=wrap_sat_fail "
         "option=write_operation SET=encoding_offset_value integer=value INCRBY=encoding_offset_increment"},
    {.name = "bitfield_ro",
     .arity = -2,
     .flags = kReadOnly | kFast,
     .keys = {1, 1, 1, kKeyRO | kKeyAccess},
     .acl = kAclBitmap,
     .handler = BitFieldRo,
     .since = "6.0.0",
     .complexity = "O(1) for each operation",
     .summary = "Reads integers of any width within a string value.",
     .syntax = "key [GET encoding offset] ...",
     .argument_notes = "GET=encoding_offset"},
};
const CommandFamily kFamily("bitmap", kRows);

}  // namespace
}  // namespace mayfly::bitfield_commands
