// The inline part of Keyspace for putting a value into an existing entry, the end of a SET.
//
// Nearly every SET ends here, with a value of the same size and a TTL as before. On its path, PutText passes references only
// to functions that are seldom called, so that its values stay in registers.
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

[[gnu::always_inline]] inline Entry* Keyspace::PutText(const Key& key, Entry* existing, std::string_view text,
                                                       Expiry expiry, Now now, const Event& event) {
  assert(StringValue::IsPlain(text));
  char* room = nullptr;
  if (existing != nullptr && !lifetimes_.ruled()) [[likely]]
    room = existing->Become(ShapeFor(key, text.size(), expiry), marks_.phase());
  if (room == nullptr) [[unlikely]]
    return PutTextAnew(key, existing, text, expiry, now, event);
  if (existing->encoding() >= Encoding::kBlock) [[unlikely]]
    owners_.Grow(*existing, memory_.Exchange(*existing, Encoding::kText, 0));
  if (expiry.kind != Expiry::Kind::kNever) lifetimes_.deadlines().Move(*existing, expiry, now);
  existing->set_encoding(Encoding::kText);
  CopyBytes(room, text.data(), text.size());
  Touch(*existing, now);
  Tell(ChangeReason::kValueChanged, event, key.text, existing);
  return existing;
}

[[gnu::always_inline]] inline Entry* Keyspace::OverwriteAs(const Key& key, Entry& existing,
                                                           const Entry::Shape& shape, StringValue&& value,
                                                           Expiry expiry, Now now) {
  char* const room = existing.Become(shape, marks_.phase());
  if (room == nullptr) [[unlikely]]
    return PutAnew(key, existing, shape, std::move(value), expiry, now);
  if (existing.encoding() >= Encoding::kBlock || value.outside_bytes() != 0) [[unlikely]]
    owners_.Grow(existing, memory_.Exchange(existing, value.encoding(), value.outside_bytes()));
  if (shape.expires) lifetimes_.deadlines().Move(existing, expiry, now);
  existing.set_encoding(value.encoding());
  value.StoreTo(room);
  Touch(existing, now);
  return &existing;
}

[[gnu::always_inline]] inline Entry* Keyspace::Put(const Key& key, Entry* existing, StringValue&& value,
                                                   Expiry expiry, Now now, const Event& event) {
  if (lifetimes_.ruled()) [[unlikely]]
    return PutOnTerms(key, existing, std::move(value), expiry, {}, now, event);
  const Entry::Shape shape = ShapeFor(key, value.stored_bytes(), expiry);
  Entry* entry = nullptr;
  if (existing == nullptr) {
    entry = Create(key, shape, std::move(value), expiry, now);
    Tell(ChangeReason::kCreated, event, key.text, entry);
  } else {
    entry = OverwriteAs(key, *existing, shape, std::move(value), expiry, now);
    Tell(ChangeReason::kValueChanged, event, key.text, entry);
  }
  return entry;
}

}  // namespace mayfly
