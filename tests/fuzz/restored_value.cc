// Any bytes as a value of the RDB format: built or refused, but the same whatever the pieces in which they arrive. What was
// built is valid, and comes back the same when it is written and read.
//
// The first byte says how the rest is read. It is the value itself; or it is a recipe for a value with a packed collection,
// whose lengths and counts are right but for the damage that the recipe does: so the fuzzer comes behind them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cache/keyspace/databases.h"
#include "seed_files.h"
#include "snapshot/format/listpack.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"
#include "snapshot/values/module_skip.h"
#include "snapshot/values/value_in.h"
#include "snapshot/values/value_out.h"
#include "support/exact_block.h"
#include "support/value_words.h"

namespace mayfly::rdb {
namespace {

constexpr uint8_t kIsRecipe = 1;
constexpr uint8_t kIsValkey = 2;
constexpr uint8_t kFewElements = 4;
constexpr uint8_t kSmallLimits = 8;
constexpr uint8_t kTtls = 16;

struct World {
  SteppedClock clock;
  Heap heap{Heap::kMinRegionBytes * 8};
  Hasher hasher{1};
  ChangeHub changes;
  Databases databases{heap, hasher, changes, 1, clock.Read()};
};

// What came of reading: the words of the value, or why there is none.
struct Outcome {
  ValueStatus status = ValueStatus::kBad;
  ValueWords words = {};
  std::unique_ptr<RichValue> value = {};
  bool operator==(const Outcome& other) const { return status == other.status && words == other.words; }
};

ValueLimits LimitsFor(uint8_t flags) {
  ValueLimits limits;
  if ((flags & kSmallLimits) == 0) return limits;
  limits.hash.fields = 2;
  limits.set = {.integers = 2, .packed = 2};
  limits.sorted_set.packed = 2;
  limits.list = ListLimit(2);
  limits.stream.node_entries = 2;
  return limits;
}

class Reading {
 public:
  Reading(World& world, uint8_t flags) : world_(world), flags_(flags) {}

  Outcome Read(std::string_view bytes, size_t piece, size_t elements) {
    Outcome outcome;
    ValueIn reader(LimitsFor(flags_));
    const auto type = static_cast<uint8_t>(bytes[0]);
    if (!reader.Begin(type, {.home = world_.databases.At(0).home(),
                             .now = now(),
                             .valkey = (flags_ & kIsValkey) != 0,
                             .ttls = (flags_ & kTtls) != 0}))
      return outcome;
    In in;
    size_t begin = 1;
    size_t end = std::min(bytes.size(), begin + piece);
    for (;;) {
      const ExactBlock block(bytes.substr(begin, end - begin));
      in.SetWindow(block.view());
      size_t budget = elements;
      outcome.status = reader.Some(in, budget);
      begin += in.at();
      if (outcome.status == ValueStatus::kSpent) continue;
      if (outcome.status == ValueStatus::kMore && end < bytes.size()) {
        end = std::min(bytes.size(), end + piece);
        continue;
      }
      if (outcome.status == ValueStatus::kDone) Take(reader, outcome);
      return outcome;
    }
  }
  // Writes a value that was read, and reads it again.
  Outcome Again(std::unique_ptr<RichValue> value) {
    Keyspace& keyspace = world_.databases.At(0);
    const Key key = keyspace.KeyOf("k");
    Entry& entry = *keyspace.PutRich(key, keyspace.Peek(key, now()), std::move(value), Expiry::Never(), now(),
                                     events::kSet);
    const ValueForm form = FormOf(entry, now());
    std::string bytes(1, static_cast<char>(form.type));
    WriteValue(entry, form, now(), Compression::kLzf, bytes);
    Outcome outcome = Read(bytes, bytes.size(), SIZE_MAX);
    keyspace.Remove(key, entry, ChangeReason::kDeleted);
    while (world_.databases.FreeSome(SIZE_MAX)) {
    }
    return outcome;
  }
  Now now() { return world_.clock.Read(); }

 private:
  void Take(ValueIn& reader, Outcome& outcome) {
    if (reader.is_string()) {
      reader.TakeString();
      return;
    }
    outcome.value = reader.TakeRich();
    if (!IsValid(*outcome.value)) std::abort();
    outcome.words = WordsOfValue(*outcome.value, now());
  }

  World& world_;
  const uint8_t flags_;
};

// Makes a value from a recipe: the type, a place to damage, a byte for this place, then items of a listpack, each with its
// length before it.
std::string Cooked(std::string_view recipe) {
  constexpr size_t kHead = 3;
  if (recipe.size() < kHead) return {};
  const auto type = static_cast<uint8_t>(recipe[0]);
  const auto at = static_cast<uint8_t>(recipe[1]);
  const char damage = recipe[2];
  recipe.remove_prefix(kHead);
  ListpackWriter listpack;
  while (!recipe.empty()) {
    const size_t size = std::min<size_t>(static_cast<uint8_t>(recipe[0]), recipe.size() - 1);
    listpack.Append(recipe.substr(1, size));
    recipe.remove_prefix(1 + size);
  }
  std::string packed(listpack.Finish());
  if (at < packed.size()) packed[at] = static_cast<char>(packed[at] ^ damage);
  std::string bytes;
  Out out(bytes);
  out.Byte(type);
  if (type == type::kHashTtlPack) out.Millis(1);
  if (type == type::kQuicklist2) {
    out.Length(1);
    out.Length(quicklist_node::kPacked);
  }
  const bool is_stream = type == type::kStream || type == type::kStream2 || type == type::kStream3;
  if (is_stream) {
    out.Length(1);
    out.Length(Out::kStreamIdBytes);
    out.StreamId(5, 1);
  }
  out.String(packed);
  if (is_stream) {
    out.Length(1);
    for (int i = 0; i < 2; ++i) out.Length(UINT64_MAX);
    for (int i = 0; type != type::kStream && i < 5; ++i) out.Length(0);
    out.Length(0);
  }
  return bytes;
}

void SkipModule(std::string_view bytes) {
  In in(bytes);
  ModuleSkip skip;
  size_t budget = SIZE_MAX;
  if (skip.Some(in, budget) == ValueStatus::kDone && in.at() > bytes.size()) std::abort();
}

void WriteSeeds(const std::string& folder) {
  int number = 0;
  const auto write = [&](uint8_t flags, std::string_view bytes) {
    std::ofstream seed(folder + "/" + std::to_string(number++), std::ios::binary);
    seed.put(static_cast<char>(flags));
    seed.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  };
  const std::string_view values[] = {{"\0\1v", 3},
                                     {"\1\2\1a\xC0\7", 6},
                                     {"\2\2\1a\1b", 6},
                                     {"\4\1\1f\1v", 6},
                                     {"\5\1\1a\0\0\0\0\0\0\xF0\x3F", 12},
                                     {"\3\1\1a\0011\xFE", 7},
                                     {"\7\1\2\5\5\1x\0", 8}};
  for (const std::string_view value : values) write(0, value);
  const std::string_view recipes[] = {
      {"\x10\xFF\0\1f\1v", 7},      {"\x11\xFF\0\1a\0011", 7},
      {"\x14\xFF\0\1a\1b", 7},      {"\x12\xFF\0\1a\1b", 7},
      {"\x19\xFF\0\1f\1v\0010", 9}, {"\x0F\xFF\0\0011\0010\0011\1f\0010\0012\0010\0010\1v\0014", 23}};
  for (const std::string_view recipe : recipes) write(kIsRecipe, recipe);
}

}  // namespace
}  // namespace mayfly::rdb

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  mayfly::testing::WriteSeedsIfTold(*argc, *argv, mayfly::rdb::WriteSeeds);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mayfly::rdb;
  if (size < 2) return 0;
  static World world;
  const uint8_t flags = data[0];
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if ((flags & kIsRecipe) != 0) bytes = Cooked(bytes);
  if (bytes.empty()) return 0;
  if (static_cast<uint8_t>(bytes[0]) == type::kModule) SkipModule(std::string_view(bytes).substr(1));
  Reading reading(world, flags);
  Outcome whole = reading.Read(bytes, bytes.size(), SIZE_MAX);
  const Outcome pieces = reading.Read(bytes, 1 + (flags >> 4), (flags & kFewElements) != 0 ? 1 : SIZE_MAX);
  if (!(whole == pieces)) std::abort();
  if (whole.value != nullptr && !(reading.Again(std::move(whole.value)) == pieces)) std::abort();
  return 0;
}
