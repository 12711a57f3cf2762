// What a request has done to a consumer group, as commands for replicas: whatever was delivered is claimed there.
//
//   XGROUP CREATECONSUMER key group consumer        a new consumer
//   XCLAIM key group consumer 0 id ... TIME ms RETRYCOUNT n FORCE JUSTID
//   XACK key group id ...                           no longer pending
//   XDEL key id ...                                 and no longer in the stream
//   XGROUP SETID key group id ENTRIESREAD n         the group has delivered more
//
// Notes nothing if nobody wants it. Without memory there is no effect, and replicas get the whole stream. Loop thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/changes/change.h"
#include "cache/types/stream/stream_group.h"

namespace mayfly {

class GroupEffects {
 public:
  // `wanted`: ChangeHub::WantsEffects. Borrows the names.
  GroupEffects(bool wanted, std::string_view group, std::string_view consumer) noexcept
      : wanted_(wanted), group_(group), consumer_(consumer) {}
  GroupEffects(const GroupEffects&) = delete;
  GroupEffects& operator=(const GroupEffects&) = delete;

  void NoteConsumer() noexcept { created_ = true; }
  void NoteDelivered(StreamId id, int64_t ms, uint32_t count) noexcept;
  void NoteReleased(StreamId id) noexcept { Note(released_, id); }
  void NoteDeleted(StreamId id) noexcept { Note(deleted_, id); }
  // The group's place has changed.
  void NotePlace(const StreamGroup& group) noexcept;
  // The event, which tells of all that. Valid while this object lives.
  Event Tell(const Event& event) noexcept;

 private:
  struct Delivered {
    StreamId id;
    int64_t ms;
    uint32_t count;
  };
  void Note(std::vector<StreamId>& ids, StreamId id) noexcept;
  void Build();
  void KeepIds(const std::vector<StreamId>& ids, std::vector<std::string_view>& words);
  // Begins a command, on the group or on the stream alone.
  std::vector<std::string_view>& Begin(std::string_view command, std::string_view subcommand = {});
  std::string_view Keep(std::string text) { return built_->texts.emplace_back(std::move(text)); }

  bool wanted_;
  const std::string_view group_;
  const std::string_view consumer_;
  bool created_ = false;
  bool moved_ = false;
  StreamId last_id_;
  int64_t entries_read_ = 0;
  std::vector<Delivered> delivered_;
  std::vector<StreamId> released_;
  std::vector<StreamId> deleted_;
  struct Built {
    std::deque<std::string> texts;
    std::deque<std::vector<std::string_view>> words;
    std::deque<Effect> effects;
  };
  std::unique_ptr<Built> built_;  // null: nothing is, at no cost
};

}  // namespace mayfly
