#include "exec/values/group_effects.h"

#include <new>
#include <utility>

#include "cache/changes/stream_addition.h"

namespace mayfly {

void GroupEffects::NoteDelivered(StreamId id, int64_t ms, uint32_t count) noexcept {
  if (!wanted_) return;
  try {
    delivered_.push_back({id, ms, count});
  } catch (const std::bad_alloc&) {
    wanted_ = false;
  }
}

void GroupEffects::Note(std::vector<StreamId>& ids, StreamId id) noexcept {
  if (!wanted_) return;
  try {
    ids.push_back(id);
  } catch (const std::bad_alloc&) {
    wanted_ = false;
  }
}

void GroupEffects::NotePlace(const StreamGroup& group) noexcept {
  moved_ = true;
  last_id_ = group.last_id;
  entries_read_ = group.entries_read;
}

Event GroupEffects::Tell(const Event& event) noexcept {
  if (!wanted_) return event;
  try {
    built_ = std::make_unique<Built>();
    Build();
  } catch (const std::bad_alloc&) {
    return event;
  }
  return built_->effects.empty() ? event : event.With(built_->effects.front());
}

std::vector<std::string_view>& GroupEffects::Begin(std::string_view command, std::string_view subcommand) {
  built_->effects.push_back({.command = command, .subcommand = subcommand});
  std::vector<std::string_view>& words = built_->words.emplace_back();
  if (command != "XDEL") words.push_back(group_);
  return words;
}

void GroupEffects::KeepIds(const std::vector<StreamId>& ids, std::vector<std::string_view>& words) {
  for (const StreamId id : ids) words.push_back(Keep(TextOfStreamId(id)));
}

void GroupEffects::Build() {
  if (created_) Begin("XGROUP", "CREATECONSUMER").push_back(consumer_);
  for (size_t i = 0; i < delivered_.size();) {
    const Delivered first = delivered_[i];
    std::vector<std::string_view>& words = Begin("XCLAIM");
    words.insert(words.end(), {consumer_, "0"});
    for (; i < delivered_.size() && delivered_[i].ms == first.ms && delivered_[i].count == first.count; ++i)
      words.push_back(Keep(TextOfStreamId(delivered_[i].id)));
    words.insert(words.end(), {"TIME", Keep(std::to_string(first.ms)), "RETRYCOUNT",
                               Keep(std::to_string(first.count)), "FORCE", "JUSTID"});
  }
  if (!released_.empty()) KeepIds(released_, Begin("XACK"));
  if (!deleted_.empty()) KeepIds(deleted_, Begin("XDEL"));
  if (moved_) {
    std::vector<std::string_view>& words = Begin("XGROUP", "SETID");
    words.insert(words.end(),
                 {Keep(TextOfStreamId(last_id_)), "ENTRIESREAD", Keep(std::to_string(entries_read_))});
  }
  std::deque<Effect>& effects = built_->effects;
  for (size_t i = 0; i < effects.size(); ++i) {
    effects[i].arguments = built_->words[i];
    effects[i].next = i + 1 < effects.size() ? &effects[i + 1] : nullptr;
  }
}

}  // namespace mayfly
