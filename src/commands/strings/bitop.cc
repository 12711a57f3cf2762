// BITOP: makes one bitmap of others.
#include <string>
#include <vector>

#include "base/bits/bitwise.h"
#include "exec/values/string_edit.h"

namespace mayfly::bitop_commands {
namespace {

struct Operation {
  std::string_view name;
  BitOperation operation;
};

// The last four operations come from Redis 8.2.
constexpr Operation kOperations[] = {
    {"AND", BitOperation::kAnd},     {"OR", BitOperation::kOr},     {"XOR", BitOperation::kXor},
    {"NOT", BitOperation::kNot},     {"DIFF", BitOperation::kDiff}, {"DIFF1", BitOperation::kDiff1},
    {"ANDOR", BitOperation::kAndOr}, {"ONE", BitOperation::kOne},
};

const Operation* FindOperation(std::string_view word) noexcept {
  for (const Operation& operation : kOperations) {
    if (EqualsIgnoringCase(word, operation.name)) return &operation;
  }
  return nullptr;
}

// Returns false, after an error reply, if the operation does not take this number of sources.
bool RequireSources(Context& ctx, const Operation& operation, size_t sources) {
  switch (operation.operation) {
    case BitOperation::kNot:
      if (sources == 1) return true;
      ctx.Fail("ERR BITOP NOT must be called with a single source key.");
      return false;
    case BitOperation::kDiff:
    case BitOperation::kDiff1:
    case BitOperation::kAndOr:
      if (sources > 1) return true;
      ctx.Fail("ERR BITOP " + std::string(operation.name) + " must be called with at least two source keys.");
      return false;
    default:
      return true;
  }
}

// The texts of several keys; empty for an absent key. Views of entries: valid until the next change.
class Sources {
 public:
  // Returns false, after an error reply, if a key does not hold a string.
  bool Read(Context& ctx, const Args& args, size_t first) {
    for (size_t i = first; i < args.size(); ++i) {
      const Entry* entry = ctx.Read(ctx.KeyAt(args, i));
      if (entry != nullptr && !RequireString(ctx, *entry)) return false;
    }
    // The first look-ups have removed expired keys, so no look-up here removes an entry in use.
    texts_.reserve(args.size() - first);
    digits_.resize(args.size() - first);
    for (size_t i = first; i < args.size(); ++i) {
      const Entry* entry = ctx.keyspace.Peek(ctx.KeyAt(args, i), ctx.now);
      texts_.push_back(entry != nullptr ? TextOf(*entry, digits_[i - first].text) : std::string_view());
      longest_ = std::max(longest_, texts_.back().size());
    }
    return true;
  }
  const std::vector<std::string_view>& texts() const noexcept { return texts_; }
  size_t longest() const noexcept { return longest_; }

 private:
  struct Digits {
    char text[kMaxIntegerText];
  };
  std::vector<std::string_view> texts_;
  std::vector<Digits> digits_;
  size_t longest_ = 0;
};

void BitOp(Context& ctx, Args& args) {
  constexpr size_t kFirstSource = 3;
  const Operation* operation = FindOperation(args[1]);
  if (operation == nullptr) return ctx.Fail(errors::kSyntax);
  if (!RequireSources(ctx, *operation, args.size() - kFirstSource)) return;
  Sources sources;
  if (!sources.Read(ctx, args, kFirstSource)) return;

  const Key key = ctx.KeyAt(args, 2);
  const size_t size = sources.longest();
  if (size == 0) {
    ctx.keyspace.Delete(key, ctx.now);
    return ctx.reply.Integer(0);
  }
  StringDraft result(size);
  CombineBits(operation->operation, sources.texts(), result.data(), size);
  ctx.keyspace.Put(key, ctx.keyspace.Peek(key, ctx.now), result.Take(), Expiry::Never(), ctx.now);
  ctx.reply.Integer(static_cast<int64_t>(size));
}

constexpr Command kRows[] = {
    {.name = "bitop",
     .arity = -4,
     .flags = kWrite | kDenyOom,
     .keys = {2, 2, 1, kKeyOW | kKeyUpdate},
     .more_keys = {3, -1, 1, kKeyRO | kKeyAccess},
     .acl = kAclBitmap,
     .handler = BitOp,
     .since = "2.6.0",
     .complexity = "O(N) where N is the length of all source values",
     .summary = "Stores what a bitwise operation (AND, OR, XOR, NOT, DIFF, DIFF1, ANDOR, ONE) makes of "
                "string values.",
     .syntax = "operation destkey key [key ...]",
     .notes = "DIFF, DIFF1, ANDOR and ONE as in Redis 8.2."},
};
const CommandFamily kFamily("bitmap", kRows);

}  // namespace
}  // namespace mayfly::bitop_commands
