#include "exec/values/dataset_digest.h"

#include <array>

#include "base/text/numbers.h"
#include "exec/call/value_type.h"

namespace mayfly {
namespace {

// Redis's number of the type.
uint32_t NumberOf(ValueType type) noexcept {
  switch (type) {
    case ValueType::kString:
      return 0;
    case ValueType::kList:
      return 1;
    case ValueType::kSet:
      return 2;
    case ValueType::kSortedSet:
      return 3;
    case ValueType::kHash:
      return 4;
    case ValueType::kStream:
      return 6;
  }
  return 0;
}

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

// The members of lists and streams have an order, and are mixed. The members of other values are combined by exclusive or,
// each with its parts mixed.
class MemberDigest final : public MemberVisitor {
 public:
  MemberDigest(Sha1& digest, ValueType type) noexcept
      : digest_(digest), ordered_(type == ValueType::kList || type == ValueType::kStream) {}
  void Visit(std::span<const std::string_view> parts) override {
    Sha1 member{};
    for (const std::string_view part : parts) Mix(ordered_ ? digest_ : member, part);
    if (!ordered_) Xor(digest_, Sha1Of(parts.size() == 1 ? parts[0] : BytesOf(member)));
  }

 private:
  Sha1& digest_;
  const bool ordered_;
};

void MixValue(Sha1& digest, const Entry& entry) {
  switch (entry.encoding()) {
    case Encoding::kText:
    case Encoding::kEdited:
      return Mix(digest, entry.stored());
    case Encoding::kBlock:
      return Mix(digest, entry.text());
    case Encoding::kInteger: {
      char digits[kMaxIntegerText];
      return Mix(digest, std::string_view(digits, FormatInteger(entry.integer(), digits)));
    }
    case Encoding::kRich: {
      MemberDigest members(digest, entry.rich()->type);
      return entry.rich()->ForEachMember(members);
    }
  }
}

void AddValue(Sha1& digest, const Entry& entry) {
  Mix(digest, NumberOf(TypeOf(entry)));
  MixValue(digest, entry);
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
