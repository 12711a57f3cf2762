#include "exec/values/dataset_digest.h"

#include <array>

#include "base/numbers.h"

namespace mayfly {
namespace {

constexpr uint32_t kStringType = 0;  // as Redis numbers it

void Xor(Sha1& digest, const Sha1& other) noexcept {
  for (size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<unsigned char>(digest[i] ^ other[i]);
}

std::string_view BytesOf(const Sha1& digest) noexcept {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

void Mix(Sha1& digest, std::string_view bytes) noexcept {
  Xor(digest, Sha1Of(bytes));
  digest = Sha1Of(BytesOf(digest));
}

// As four bytes, the highest first.
void Mix(Sha1& digest, uint32_t number) noexcept {
  std::array<char, sizeof number> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(number >> (24 - 8 * i));
  Mix(digest, std::string_view(bytes.data(), bytes.size()));
}

void MixString(Sha1& digest, const Entry& entry) {
  const Encoding encoding = entry.encoding();
  if (encoding <= Encoding::kEdited) return Mix(digest, entry.stored());
  if (encoding != Encoding::kInteger) {
    const SharedBytes block = entry.block();
    return Mix(digest, std::string_view(block.data(), block.size()));
  }
  char digits[kMaxIntegerText];
  Mix(digest, std::string_view(digits, FormatInteger(entry.integer(), digits)));
}

void AddValue(Sha1& digest, const Entry& entry) {
  Mix(digest, kStringType);
  MixString(digest, entry);
  if (entry.expires()) Xor(digest, Sha1Of("!!expire!!"));
}

}  // namespace

Sha1 DigestOfValue(const Entry& entry) {
  Sha1 digest{};
  AddValue(digest, entry);
  return digest;
}

Sha1 DigestOfAll(const Databases& databases, Now now) {
  Sha1 all{};
  for (unsigned i = 0; i < databases.count(); ++i) {
    const Keyspace& keyspace = databases.At(i);
    if (keyspace.size() == 0) continue;
    Mix(all, i);
    keyspace.ForEach(now, [&all](const Entry& entry) {
      Sha1 digest{};
      Mix(digest, entry.key());
      AddValue(digest, entry);
      Xor(all, Sha1Of(BytesOf(digest)));
    });
  }
  return all;
}

}  // namespace mayfly
