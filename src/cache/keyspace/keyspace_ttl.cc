// The part of Keyspace that sets deadlines: by the rules (cache/time/ttl_rules.h), or sliding with each access.
#include <algorithm>
#include <cassert>

#include "cache/keyspace/keyspace.h"

namespace mayfly {

Expiry Keyspace::ObeyingRules(std::string_view key, Expiry wanted, Now now) const {
  return parts_.ttl_rules.Obeying(key, wanted, now);
}

Expiry Keyspace::KeptExpiry(const Key& key, const Entry& existing, Now now) const noexcept {
  Expiry kept = ExpiryOf(existing);
  if (!existing.expires() && parts_.ttl_rules.any()) kept = parts_.ttl_rules.ForLasting(key.text, now);
  kept.standing = Expiry::Standing::kKept;
  return kept;
}

Entry* Keyspace::GiveDeadline(const Key& key, Entry& existing, Now now) {
  const Expiry expiry = parts_.ttl_rules.ForLasting(key.text, now);
  if (expiry.kind == Expiry::Kind::kNever) return &existing;
  TellBefore(existing);
  return Redate(key, existing, expiry, {}, now);
}

Entry* Keyspace::SetExpiry(const Key& key, Entry& existing, Expiry wanted, Now now, EntryTerms slide) {
  Expiry expiry = Obeying(key.text, wanted, now);
  slide.stale_ms = existing.stale_ms();
  FitSlide(key.text, slide, wanted, expiry, now);
  TellBefore(existing);
  Entry* const entry = Redate(key, existing, expiry, slide, now);
  TouchFound(*entry, now);
  const bool lasts = expiry.kind == Expiry::Kind::kNever;
  Tell(ChangeReason::kExpiryChanged, lasts ? events::kPersist : events::kExpire, key.text, entry);
  return entry;
}

Entry* Keyspace::Redate(const Key& key, Entry& existing, Expiry expiry, EntryTerms terms, Now now) {
  Entry* entry = &existing;
  const Expiry own = OwnTimeOf(existing);
  Entry::Shape shape = ShapeFor(key, existing.stored().size(), expiry);
  if (!shape.expires) terms = {};
  shape.timed = own.kind != Expiry::Kind::kNever;
  // A command may have made room for the own time that it is about to set (RoomForOwnTime).
  const bool has_room = existing.timed() && !existing.expires();
  shape.extra.times = Deadlines::NeedExtra(expiry, own) || terms.any() || (shape.expires && has_room);
  shape.extra.tags = existing.tags();
  if (!existing.HasParts(shape)) {
    entry = Relocate(key, existing, shape, expiry, own, now);
  } else if (shape.timed) {
    deadlines_.SetTimes(existing, expiry, own, now);
  } else if (shape.expires) {
    deadlines_.Move(existing, expiry, now);
  }
  if (shape.extra.times && shape.expires) entry->times().terms = terms;
  return entry;
}

void Keyspace::FitSlide(std::string_view key, EntryTerms& terms, Expiry wanted, Expiry& expiry,
                        Now now) const noexcept {
  if (terms.slide_ms == 0) return;
  if (expiry.kind != Expiry::Kind::kRelative) {
    terms.slide_ms = 0;
    return;
  }
  if (parts_.ttl_rules.any()) {
    // With jitter that was drawn just now, accesses give it the TTL that was drawn.
    if (wanted.standing == Expiry::Standing::kAsked) terms.slide_ms = expiry.deadline_ms - now.mono_ms;
    terms.slide_ms = std::min(terms.slide_ms, parts_.ttl_rules.LongestOf(key));
  }
  if (terms.slide_until_ms != 0) expiry.deadline_ms = std::min(expiry.deadline_ms, terms.slide_until_ms);
}

void Keyspace::Slide(Entry& entry, Now now) noexcept {
  const EntryTerms terms = entry.terms();
  if (terms.slide_ms == 0 || !entry.expires() || parts_.tracking == AccessTracking::kNone) return;
  Expiry deadline = entry.deadline();
  if (deadline.kind != Expiry::Kind::kRelative) return;
  uint64_t next_ms = std::min(now.mono_ms + terms.slide_ms, FurthestDeadlineMs(now));
  if (terms.slide_until_ms != 0) next_ms = std::min(next_ms, terms.slide_until_ms);
  if (next_ms <= deadline.deadline_ms) return;
  TellBefore(entry);
  deadline.deadline_ms = next_ms;
  deadlines_.SetTimes(entry, deadline, OwnTimeOf(entry), now);
}

}  // namespace mayfly
