// XDELEX, XACKDEL: delete entries of streams, and say what that means to consumer groups.
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "exec/arguments/stream_arguments.h"
#include "exec/dispatch/context.h"
#include "exec/values/group_access.h"
#include "exec/values/group_effects.h"

namespace mayfly::stream_delete_commands {
namespace {

constexpr Event kXDel{"xdel"};

// The answer for an ID.
constexpr int64_t kAbsent = -1;
constexpr int64_t kDone = 1;
constexpr int64_t kStillReferenced = 2;

struct DeleteOptions {
  StreamReferences references = StreamReferences::kKeep;
  std::vector<StreamId> ids = {};

  StreamId Highest() const { return *std::max_element(ids.begin(), ids.end()); }
};

// The IDs after IDS. False after having answered the error.
bool ReadIds(Context& ctx, Args& args, DeleteOptions& options) {
  const std::optional<int64_t> count = args.NextInteger();
  if (!count || *count < 1) return ctx.Fail("ERR Number of IDs must be a positive integer"), false;
  if (static_cast<uint64_t>(*count) > args.Left())
    return ctx.Fail("ERR The `numids` parameter must match the number of arguments"), false;
  options.ids.clear();
  for (int64_t i = 0; i < *count; ++i) {
    const std::optional<StreamIdText> id = ReadStreamId(ctx, args.Next(), StreamIdForm::kStrict);
    if (!id) return false;
    options.ids.push_back(id->id);
  }
  return true;
}

// [KEEPREF | DELREF | ACKED] IDS numids id ..., after `fixed` words, in any order. False after having answered the error.
bool ReadDeleteOptions(Context& ctx, Args& args, size_t fixed, DeleteOptions& options) {
  args.Skip(fixed);
  std::optional<StreamReferences> references;
  while (!args.Done()) {
    const bool known = references.has_value();
    if (AcceptReferences(args, references)) {
      if (known) return ctx.Fail(errors::kSyntax), false;
    } else if (options.ids.empty() && args.Accept("IDS", 1)) {
      if (!ReadIds(ctx, args, options)) return false;
    } else {
      return ctx.Fail(errors::kSyntax), false;
    }
  }
  if (options.ids.empty()) return ctx.Fail(errors::kSyntax), false;
  options.references = references.value_or(StreamReferences::kKeep);
  return true;
}

void ReplyAbsent(Context& ctx, size_t count) {
  ctx.reply.Array(count);
  for (; count != 0; --count) ctx.reply.Integer(kAbsent);
}

// Deletes entries in a call of EditValue, and takes down the answers.
class Deleter {
 public:
  // `group`: of XACKDEL.
  Deleter(const Context& ctx, const DeleteOptions& options, std::string_view group)
      : references_(options.references), effects_(WantsEffects(ctx), group, {}) {
    answers_.reserve(options.ids.size());
  }

  void Delete(StreamValue& stream, StreamId id) { answers_.push_back(AnswerOf(stream, id)); }
  // As Delete, after the group's acknowledgement; an entry that has gone is no news then.
  void AckAndDelete(StreamValue& stream, StreamGroup& group, StreamId id) {
    if (!group.Acknowledge(id)) return answers_.push_back(kAbsent);
    released_ = true;
    effects_.NoteReleased(id);
    answers_.push_back(AnswerOf(stream, id) == kStillReferenced ? kStillReferenced : kDone);
  }
  void Reply(Context& ctx) const {
    ctx.reply.Array(answers_.size());
    for (const int64_t answer : answers_) ctx.reply.Integer(answer);
  }
  // What is released in all groups has no effect of its own.
  const Event* done() noexcept {
    if (!deleted_ && !released_) return nullptr;
    event_ = deleted_ ? kXDel : kDelivered;
    if (references_ != StreamReferences::kDelete) event_ = effects_.Tell(event_);
    return &event_;
  }

 private:
  int64_t AnswerOf(StreamValue& stream, StreamId id) {
    const StreamGroups* const groups = stream.groups();
    if (references_ == StreamReferences::kAcked && groups != nullptr && !groups->AllAreDoneWith(id))
      return stream.Contains(id) ? kStillReferenced : kAbsent;
    // Also of an entry that the stream has no more.
    if (references_ == StreamReferences::kDelete && groups != nullptr &&
        stream.EditGroups().AcknowledgeInAll(id) != 0)
      released_ = true;
    if (!stream.Delete(id)) return kAbsent;
    deleted_ = true;
    effects_.NoteDeleted(id);
    return kDone;
  }

  const StreamReferences references_;
  GroupEffects effects_;
  Event event_;
  std::vector<int64_t> answers_;
  bool deleted_ = false;
  bool released_ = false;  // of a group
};

void AwaitSaveOfDeleted(Context& ctx, const FoundGroup& found, const DeleteOptions& options) {
  AwaitSaveForTrim(
      ctx, {.entry = found.entry, .value = found.stream},
      {.by = StreamTrim::By::kId, .min_id = options.Highest(), .references = options.references});
}

void XDelEx(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  Typed<StreamValue> found;
  if (!ctx.FindTyped(key, found)) return;
  DeleteOptions options;
  if (!ReadDeleteOptions(ctx, args, 1, options)) return;
  if (found.value == nullptr) return ReplyAbsent(ctx, options.ids.size());
  AwaitSaveOfDeleted(ctx, {.entry = found.entry, .stream = found.value}, options);
  Deleter deleter(ctx, options, {});
  EditValue<StreamValue>(
      ctx, key, *found.entry,
      [&](StreamValue& stream) {
        for (const StreamId id : options.ids) deleter.Delete(stream, id);
      },
      [&] { return deleter.done(); });
  deleter.Reply(ctx);
}

void XAckDel(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  FoundGroup found;
  if (!FindGroup(ctx, key, args[2], found)) return;
  DeleteOptions options;
  if (!ReadDeleteOptions(ctx, args, 2, options)) return;
  if (found.group == nullptr) return ReplyAbsent(ctx, options.ids.size());
  AwaitSaveOfGroups(ctx, *found.entry, *found.stream);
  AwaitSaveOfDeleted(ctx, found, options);
  Deleter deleter(ctx, options, args[2]);
  EditGroup(
      ctx, key, found,
      [&](StreamValue& stream, StreamGroup& group) {
        for (const StreamId id : options.ids) deleter.AckAndDelete(stream, group, id);
      },
      [&] { return deleter.done(); });
  deleter.Reply(ctx);
}

constexpr std::string_view kNotes =
    "KEEPREF: the entry stays pending in groups. DELREF: no group holds it any more. ACKED: an entry stays "
    "that a group has still "
    "to deliver or to acknowledge. The answer for each id: 1, it is deleted; 2, it stays; -1, there is none.";

constexpr Command kRows[] = {
    {.name = "xdelex",
     .arity = -5,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyDelete},
     .acl = kAclStream,
     .handler = XDelEx,
     .since = "8.2.0",
     .complexity = "O(log N) for each id and group, N being the number of entries",
     .summary = "Deletes entries of a stream, with a say in what that means to consumer groups.",
     .syntax = "key [KEEPREF | DELREF | ACKED] IDS numids id [id ...]",
     .notes = kNotes},
    {.name = "xackdel",
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyUpdate | kKeyDelete},
     .acl = kAclStream,
     .handler = XAckDel,
     .since = "8.2.0",
     .complexity = "O(log N) for each id and group, N being the number of entries",
     .summary = "Acknowledges entries, and deletes them from the stream.",
     .syntax = "key group [KEEPREF | DELREF | ACKED] IDS numids id [id ...]",
     .notes = "As XDELEX; -1: the group does not hold it."},
};
const CommandFamily kFamily("stream", kRows);

}  // namespace
}  // namespace mayfly::stream_delete_commands
