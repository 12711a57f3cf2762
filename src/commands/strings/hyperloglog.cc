// PFADD, PFCOUNT, PFMERGE and commands for tests: HyperLogLogs, stored as strings.
#include "base/bits/hyperloglog.h"

#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "base/bits/hyperloglog_draft.h"
#include "config/sources/options.h"
#include "exec/values/string_access.h"

namespace mayfly::hyperloglog_commands {
namespace {

constexpr Event kPfAdd{"pfadd"};
constexpr std::string_view kNoHyperLogLog = "WRONGTYPE Key is not a valid HyperLogLog string value.";
constexpr std::string_view kCorrupt = "INVALIDOBJ Corrupted HLL object detected";

// Sets `bytes` to the bytes of an entry. Returns false, after an error reply, if the bytes are no HyperLogLog.
bool BytesOf(Context& ctx, const Entry& entry, std::string_view& bytes) {
  if (!RequireString(ctx, entry)) return false;
  if (entry.encoding() != Encoding::kInteger) {
    bytes = entry.text();
    if (hll::IsHyperLogLog(bytes)) return true;
  }
  ctx.Fail(kNoHyperLogLog);
  return false;
}

size_t MostSparseBytes(const Context& ctx) {
  return static_cast<size_t>(ctx.server.options.settings().hll_sparse_max_bytes);
}

void Store(Context& ctx, const Key& key, Entry* existing, const hll::Draft& draft, const Event& event) {
  StoreKeepingExpiry(ctx, key, existing, StringValue::Edited(draft.bytes()), event);
}

// Changes dense bytes in place. Returns true if the bytes have changed.
bool AddDense(Context& ctx, const Key& key, Entry& existing, std::span<const std::string_view> elements) {
  bool changed = false;
  const Effect effect{.command = "PFADD", .arguments = elements};
  const Event event = kPfAdd.With(effect);
  ctx.keyspace.EditText(*ctx.keyspace.WithDeadline(key, existing, ctx.now), event, [&](char* bytes) {
    for (const std::string_view element : elements)
      changed = hll::RaiseDense(bytes, hll::PlaceOf(element)) || changed;
    if (changed) hll::ForgetCount(bytes);
    return changed;
  });
  return changed;
}

// As in Redis, elements added before a corrupt part was found stay. Replicas get the value if it was sparse: their own
// hll-sparse-max-bytes would decide on the form of what a command leaves there.
void AddToDraft(Context& ctx, const Key& key, Entry* existing, hll::Draft& draft,
                std::span<const std::string_view> elements) {
  const size_t most = MostSparseBytes(ctx);
  const bool was_dense = existing != nullptr && draft.dense();
  bool changed = existing == nullptr;
  for (const std::string_view element : elements) {
    const hll::Raised raised = draft.Raise(hll::PlaceOf(element), most);
    if (raised == hll::Raised::kCorrupt) {
      if (changed) Store(ctx, key, existing, draft, events::kUnreported);
      return ctx.Fail(kCorrupt);
    }
    changed = changed || raised == hll::Raised::kYes;
  }
  if (changed) {
    hll::ForgetCount(draft.data());
    const Effect effect{.command = "PFADD", .arguments = elements};
    Store(ctx, key, existing, draft, was_dense ? kPfAdd.With(effect) : kPfAdd);
  }
  ctx.reply.Integer(changed ? 1 : 0);
}

void PfAdd(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  const std::span<const std::string_view> elements = args.all().subspan(2);
  Entry* const existing = ctx.keyspace.Find(key, ctx.now);
  if (existing == nullptr) {
    hll::Draft draft;
    return AddToDraft(ctx, key, nullptr, draft, elements);
  }
  std::string_view bytes;
  if (!BytesOf(ctx, *existing, bytes)) return;
  if (hll::IsDense(bytes) && existing->encoding() == Encoding::kEdited)
    return ctx.reply.Integer(AddDense(ctx, key, *existing, elements) ? 1 : 0);
  hll::Draft draft(bytes);
  AddToDraft(ctx, key, existing, draft, elements);
}

// Returns false after an error reply. An absent key adds nothing.
bool MergeKey(Context& ctx, const Key& key, hll::Registers& registers, bool& dense) {
  const Entry* const entry = ctx.Read(key);
  if (entry == nullptr) return true;
  std::string_view bytes;
  if (!BytesOf(ctx, *entry, bytes)) return false;
  dense = dense || hll::IsDense(bytes);
  if (bytes.size() <= hll::kMostBytes && registers.Merge(bytes)) return true;
  ctx.Fail(kCorrupt);
  return false;
}

// Stores the estimate, to avoid a second computation.
void CountOne(Context& ctx, const Key& key) {
  Entry* const entry = ctx.Read(key);
  if (entry == nullptr) return ctx.reply.Integer(0);
  std::string_view bytes;
  if (!BytesOf(ctx, *entry, bytes)) return;
  std::optional<uint64_t> count = hll::StoredCount(bytes);
  if (!count) {
    if (bytes.size() <= hll::kMostBytes) count = hll::Count(bytes);
    if (!count) return ctx.Fail(kCorrupt);
    const auto store = [&](char* to) { return hll::StoreCount(to, *count), true; };
    constexpr static Effect kCounted{.command = "PFCOUNT"};
    if (entry->encoding() == Encoding::kEdited) {
      ctx.keyspace.EditText(*entry, events::kUnreported.With(kCounted), store);
    } else {
      hll::Draft draft(bytes);
      store(draft.data());
      Store(ctx, key, entry, draft, events::kUnreported.With(kCounted));
    }
  }
  ctx.reply.Integer(static_cast<int64_t>(*count));
}

void PfCount(Context& ctx, Args& args) {
  if (args.size() == 2) return CountOne(ctx, ctx.KeyAt(args, 1));
  hll::Registers registers;
  bool dense = false;
  for (size_t i = 1; i < args.size(); ++i) {
    if (!MergeKey(ctx, ctx.KeyAt(args, i), registers, dense)) return;
  }
  ctx.reply.Integer(static_cast<int64_t>(registers.Count()));
}

void PfMerge(Context& ctx, Args& args) {
  hll::Registers registers;
  bool dense = false;
  for (size_t i = 1; i < args.size(); ++i) {
    if (!MergeKey(ctx, ctx.KeyAt(args, i), registers, dense)) return;
  }
  const Key key = ctx.KeyAt(args, 1);
  Entry* const existing = ctx.keyspace.Find(key, ctx.now);
  const auto merge = [&](hll::Draft& draft) {
    const size_t most = MostSparseBytes(ctx);
    if (dense) draft.BecomeDense();
    for (size_t i = 0; i < hll::kRegisters; ++i) {
      if (registers[i] != 0) draft.Raise({i, registers[i]}, most);
    }
    hll::ForgetCount(draft.data());
    Store(ctx, key, existing, draft, kPfAdd);
  };
  if (existing == nullptr) {
    hll::Draft draft;
    merge(draft);
  } else {
    hll::Draft draft(existing->text());
    merge(draft);
  }
  ctx.reply.Ok();
}

// ---- PFDEBUG

void ShowRegisters(Context& ctx, const Key& key, Entry& entry, hll::Draft& draft) {
  if (!draft.dense()) {
    if (!draft.BecomeDense()) return ctx.Fail(kCorrupt);
    Store(ctx, key, &entry, draft, events::kUnreported);
  }
  ctx.reply.Array(hll::kRegisters);
  for (size_t i = 0; i < hll::kRegisters; ++i) ctx.reply.Integer(hll::DenseRegister(draft.bytes().data(), i));
}

// "Z:" and "z:" for registers that are 0, "v:" with the rank for others.
void ShowRuns(Context& ctx, std::string_view bytes) {
  if (hll::IsDense(bytes)) return ctx.Fail("ERR HLL encoding is not sparse");
  std::string text;
  for (size_t at = hll::kHeaderBytes; at < bytes.size();) {
    const hll::Run run = hll::RunAt(bytes, at);
    if (!text.empty()) text += ' ';
    if (run.bytes == 0) {
      // Redis takes the zero behind its text for the missing byte.
      constexpr unsigned kLengthBits = 0x3F;
      text += "Z:" + std::to_string(((static_cast<uint8_t>(bytes[at]) & kLengthBits) << 8U) + 1);
      break;
    }
    if (run.rank != 0) {
      text += "v:" + std::to_string(run.rank) + ',';
    } else {
      text += run.bytes == 2 ? "Z:" : "z:";
    }
    text += std::to_string(run.length);
    at += run.bytes;
  }
  ctx.reply.Bulk(text);
}

void MakeDense(Context& ctx, const Key& key, Entry& entry, hll::Draft& draft) {
  if (draft.dense()) return ctx.reply.Integer(0);
  if (!draft.BecomeDense()) return ctx.Fail(kCorrupt);
  Store(ctx, key, &entry, draft, events::kUnreported);
  ctx.reply.Integer(1);
}

void PfDebug(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 2);
  Entry* const entry = ctx.keyspace.Find(key, ctx.now);
  if (entry == nullptr) return ctx.Fail("ERR The specified key does not exist");
  std::string_view bytes;
  if (!BytesOf(ctx, *entry, bytes)) return;
  hll::Draft draft(bytes);
  if (args.Accept("GETREG")) {
    ShowRegisters(ctx, key, *entry, draft);
  } else if (args.Accept("DECODE")) {
    ShowRuns(ctx, bytes);
  } else if (args.Accept("ENCODING")) {
    ctx.reply.Simple(draft.dense() ? "dense" : "sparse");
  } else if (args.Accept("TODENSE")) {
    MakeDense(ctx, key, *entry, draft);
  } else {
    ctx.Fail("ERR Unknown PFDEBUG subcommand '" + std::string(errors::Repeated(args[1])) + "'");
  }
}

// ---- PFSELFTEST

bool RegistersAreApart(Context& ctx, char* bytes) {
  std::array<uint8_t, hll::kRegisters> ranks{};
  for (size_t i = 0; i < ranks.size(); ++i) {
    ranks[i] = static_cast<uint8_t>(ctx.server.random() & 63U);
    hll::SetDenseRegister(bytes, i, ranks[i]);
  }
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (hll::DenseRegister(bytes, i) != ranks[i]) return false;
  }
  return true;
}

// Tests that both encodings give the same estimate, within six times the standard error.
bool EstimatesWell(Context& ctx) {
  constexpr uint64_t kMost = 10'000;
  constexpr double kError = 6 * 0.0081;
  const uint64_t seed = ctx.server.random();
  hll::Draft sparse;
  hll::Draft dense;
  dense.BecomeDense();
  uint64_t checked = 1;
  for (uint64_t i = 1; i <= kMost; ++i) {
    const uint64_t number = i ^ seed;
    const hll::Place place = hll::PlaceOf({reinterpret_cast<const char*>(&number), sizeof number});
    sparse.Raise(place, MostSparseBytes(ctx));
    dense.Raise(place, 0);
    if (i != checked) continue;
    const std::optional<uint64_t> count = hll::Count(dense.bytes());
    if (!count || count != hll::Count(sparse.bytes())) return false;
    const double off = std::abs(static_cast<double>(*count) - static_cast<double>(i));
    if (off > std::ceil(kError * static_cast<double>(i))) return false;
    checked *= 10;
  }
  return true;
}

void PfSelfTest(Context& ctx, Args&) {
  hll::Draft draft;
  draft.BecomeDense();
  if (!RegistersAreApart(ctx, draft.data())) return ctx.Fail("TESTFAILED registers are not apart");
  if (!EstimatesWell(ctx)) return ctx.Fail("TESTFAILED the estimate is too far off");
  ctx.reply.Ok();
}

constexpr Command kRows[] = {
    {.name = "pfadd",
     .arity = -2,
     .flags = kWrite | kDenyOom | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyInsert},
     .acl = kAclHyperLogLog,
     .handler = PfAdd,
     .since = "2.8.9",
     .complexity = "O(1) for each element",
     .summary = "Adds elements to a HyperLogLog; creates the key if it is absent.",
     .syntax = "key [element [element ...]]"},
    {.name = "pfcount",
     .arity = -2,
     .flags = kReadOnly | kMayReplicate,
     .keys = {1, -1, 1, kKeyRW | kKeyAccess, "The estimate is stored in the value."},
     .acl = kAclHyperLogLog,
     .handler = PfCount,
     .since = "2.8.9",
     .complexity = "O(1) for one key, O(N) for N keys, with a constant of 16384 registers",
     .summary = "Estimates how many different elements were added to one or several HyperLogLogs.",
     .syntax = "key [key ...]"},
    {.name = "pfmerge",
     .arity = -2,
     .flags = kWrite | kDenyOom,
     .keys = {1, 1, 1, kKeyRW | kKeyAccess | kKeyInsert},
     .more_keys = {2, -1, 1, kKeyRO | kKeyAccess},
     .acl = kAclHyperLogLog,
     .handler = PfMerge,
     .since = "2.8.9",
     .complexity = "O(N) for N keys, with a constant of 16384 registers",
     .summary = "Adds all that was added to some HyperLogLogs to another one.",
     .syntax = "destkey [sourcekey [sourcekey ...]]"},
    {.name = "pfdebug",
     .arity = 3,
     .flags = kWrite | kDenyOom | kAdmin,
     .keys = {2, 2, 1, kKeyRW | kKeyAccess},
     .acl = kAclHyperLogLog,
     .handler = PfDebug,
     .since = "2.8.9",
     .complexity = "O(N) where N is the size of the value",
     .summary = "Shows the inside of a HyperLogLog (GETREG, DECODE, ENCODING), or makes it dense (TODENSE).",
     .syntax = "subcommand key",
     .doc_flags = "syscmd"},
    {.name = "pfselftest",
     .arity = 1,
     .flags = kAdmin,
     .acl = kAclHyperLogLog,
     .handler = PfSelfTest,
     .since = "2.8.9",
     .complexity = "O(1), but with a high constant",
     .summary = "Tests the estimates of HyperLogLogs.",
     .doc_flags = "syscmd"},
};
const CommandFamily kFamily("hyperloglog", kRows);

}  // namespace
}  // namespace mayfly::hyperloglog_commands
