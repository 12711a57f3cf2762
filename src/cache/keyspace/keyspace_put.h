// The inline part of Keyspace for putting a value into an existing entry, the end of a SET.
//
// Nearly every SET ends here, with a value of the same size and a TTL as before. Nothing on the way of PutText
// is passed by reference but to functions that are seldom called, so that it stays in registers.
#pragma once

#include "cache/keyspace/keyspace.h"

namespace mayfly {

[[gnu::always_inline]] inline Entry::Shape Keyspace::ShapeFor(const Key& key, size_t value_bytes,
                                                              Expiry expiry) noexcept {
  const bool expires = expiry.kind != Expiry::Kind::kNever;
  return {.key_bytes = key.text.size(),
          .value_bytes = value_bytes,
          .expires = expires,
          .extra = {.times = expires && expiry.deadline_ms > Entry::kMaxNearDeadline}};
}

inline uint8_t Keyspace::OwnerOfNew(std::string_view key) {
  if (!parts_.namespaces.any()) [[likely]]
    return id_;
  return OwnerByPrefix(key);
}

inline void Keyspace::Grow(const Entry& entry, uint64_t bytes) noexcept {
  Quota& quota = QuotaOf(entry);
  quota.bytes += bytes;
  if (quota.space != nullptr) [[unlikely]]
    parts_.namespaces.NoteGrown(*quota.space);
}

inline Entry* Keyspace::Create(const Key& key, StringValue&& value, Expiry expiry, Now now) {
  const size_t bytes = value.stored_bytes();
  return Create(key, ShapeFor(key, bytes, expiry), std::move(value), expiry, now);
}

[[gnu::always_inline]] inline Entry* Keyspace::PutText(const Key& key, Entry* existing, std::string_view text,
                                                       Expiry expiry, Now now, const Event& event) {
  assert(StringValue::IsPlain(text));
  char* room = nullptr;
  if (existing != nullptr && !parts_.ttl_rules.any()) [[likely]]
    room = existing->Become(ShapeFor(key, text.size(), expiry), phase_);
  if (room == nullptr) [[unlikely]]
    return PutTextAnew(key, existing, text, expiry, now, event);
  if (existing->encoding() >= Encoding::kBlock) [[unlikely]]
    ExchangeOutside(*existing, Encoding::kText, 0);
  if (expiry.kind != Expiry::Kind::kNever) deadlines_.Move(*existing, expiry, now);
  existing->set_encoding(Encoding::kText);
  CopyBytes(room, text.data(), text.size());
  Touch(*existing, now);
  Tell(ChangeReason::kValueChanged, event, key.text, existing);
  return existing;
}

[[gnu::always_inline]] inline Entry* Keyspace::Overwrite(const Key& key, Entry& existing, StringValue&& value,
                                                         Expiry expiry, Now now) {
  const size_t bytes = value.stored_bytes();
  return OverwriteAs(key, existing, ShapeFor(key, bytes, expiry), std::move(value), expiry, now);
}

[[gnu::always_inline]] inline Entry* Keyspace::OverwriteAs(const Key& key, Entry& existing,
                                                           const Entry::Shape& shape, StringValue&& value,
                                                           Expiry expiry, Now now) {
  char* const room = existing.Become(shape, phase_);
  if (room == nullptr) [[unlikely]]
    return PutAnew(key, existing, shape, std::move(value), expiry, now);
  if (existing.encoding() >= Encoding::kBlock || value.outside_bytes() != 0) [[unlikely]]
    ExchangeOutside(existing, value.encoding(), value.outside_bytes());
  if (shape.expires) deadlines_.Move(existing, expiry, now);
  existing.set_encoding(value.encoding());
  value.StoreTo(room);
  Touch(existing, now);
  return &existing;
}

[[gnu::always_inline]] inline Entry* Keyspace::Put(const Key& key, Entry* existing, StringValue&& value,
                                                   Expiry expiry, Now now, const Event& event) {
  expiry = Obeying(key.text, expiry, now);
  Entry* entry = nullptr;
  if (existing == nullptr) {
    entry = Create(key, std::move(value), expiry, now);
    Tell(ChangeReason::kCreated, event, key.text, entry);
  } else {
    entry = Overwrite(key, *existing, std::move(value), expiry, now);
    Tell(ChangeReason::kValueChanged, event, key.text, entry);
  }
  return entry;
}

}  // namespace mayfly
