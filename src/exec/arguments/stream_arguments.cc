#include "exec/arguments/stream_arguments.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#include "config/sources/options.h"

namespace mayfly {
namespace {

// Reads like Redis: an integer in canonical form, or else any text that strtoull accepts as a whole.
bool ReadNumber(const char* text, uint64_t& number) noexcept {
  if (const std::optional<int64_t> integer = ParseInteger(text)) {
    number = static_cast<uint64_t>(*integer);
    return *integer >= 0;
  }
  errno = 0;
  char* end = nullptr;
  number = std::strtoull(text, &end, 10);
  return errno == 0 && *text != '\0' && *end == '\0';
}

// An ID is two numbers of 64 bits with a dash between them.
constexpr size_t kLongestPart = 20;  // digits of 2^64 - 1

// Reads digits that are a number whatever they are, from `at` on.
bool ReadDigits(std::string_view text, size_t& at, uint64_t& number) noexcept {
  constexpr size_t kMostDigits = 18;
  const size_t begin = at;
  number = 0;
  for (; at < text.size() && at - begin < kMostDigits && text[at] >= '0' && text[at] <= '9'; ++at)
    number = 10 * number + static_cast<uint64_t>(text[at] - '0');
  return at != begin;
}

// Reads "ms-sequence" as nearly every client writes it. Parse reads all forms.
bool ParsePlain(std::string_view text, StreamId& id) noexcept {
  size_t at = 0;
  return ReadDigits(text, at, id.ms) && at < text.size() && text[at++] == '-' &&
         ReadDigits(text, at, id.sequence) && at == text.size();
}

bool Parse(std::string_view text, StreamIdForm form, uint64_t missing_sequence, StreamIdText& read) noexcept {
  if (ParsePlain(text, read.id)) return true;
  constexpr size_t kLongest = 127;
  if (text.size() > kLongest) return false;
  char bytes[kLongest + 1];
  text.copy(bytes, text.size());
  bytes[text.size()] = '\0';
  const std::string_view word(bytes);
  if (word == "-" || word == "+") {
    read.id = word == "-" ? StreamId{} : StreamId::Max();
    return form == StreamIdForm::kRange;
  }
  char* const dash = std::strchr(bytes, '-');
  if (dash != nullptr) *dash = '\0';
  if (!ReadNumber(bytes, read.id.ms)) return false;
  read.id.sequence = missing_sequence;
  if (dash == nullptr) return true;
  if (form == StreamIdForm::kAnySequence && std::strcmp(dash + 1, "*") == 0) {
    read.id.sequence = 0;
    read.any_sequence = true;
    return true;
  }
  return ReadNumber(dash + 1, read.id.sequence);
}

// Reads a bound, without the "(" if present.
std::optional<StreamId> ReadBound(Context& ctx, std::string_view text, uint64_t missing_sequence,
                                  bool& open) {
  open = text.size() > 1 && text[0] == '(';
  const std::optional<StreamIdText> read =
      open ? ReadStreamId(ctx, text.substr(1), StreamIdForm::kStrict, missing_sequence)
           : ReadStreamId(ctx, text, StreamIdForm::kRange, missing_sequence);
  if (!read) return std::nullopt;
  return read->id;
}

// Reads the count or id after MAXLEN or MINID, with an optional sign before. False after an error reply.
bool ReadTrim(Context& ctx, Args& args, StreamTrim& trim) {
  trim.whole_nodes = args.Left() >= 2 && args.Peek() == "~";
  if (trim.whole_nodes || (args.Left() >= 2 && args.Peek() == "=")) args.Skip(1);
  if (trim.by == StreamTrim::By::kId) {
    const std::optional<StreamIdText> id = ReadStreamId(ctx, args.Next(), StreamIdForm::kStrict);
    if (id) trim.min_id = id->id;
    return id.has_value();
  }
  const std::optional<int64_t> length = args.NextInteger();
  if (!length) return ctx.Fail(errors::kNotInteger), false;
  if (*length < 0) return ctx.Fail("ERR The MAXLEN argument must be >= 0."), false;
  trim.length = static_cast<uint64_t>(*length);
  return true;
}

// The limit without LIMIT: the number of entries in 100 full nodes.
uint64_t UsualLimit(const Context& ctx) {
  constexpr int64_t kNodes = 100;
  constexpr int64_t kOtherwise = 10'000;
  constexpr int64_t kMost = 1'000'000;
  const int64_t entries = ctx.server.options.settings().stream_node_max_entries;
  if (entries <= 0) return kOtherwise;
  return static_cast<uint64_t>(entries > kMost / kNodes ? kMost : entries * kNodes);
}

// Applies LIMIT among the other options. False after an error reply.
bool SetLimit(Context& ctx, std::optional<int64_t> limit, bool adds, StreamAddOptions& options) {
  if (limit.value_or(0) != 0 && !options.trim) {
    ctx.Fail("ERR syntax error, LIMIT cannot be used without specifying a trimming strategy");
    return false;
  }
  if (!adds && !options.trim)
    return ctx.Fail("ERR syntax error, XTRIM must be called with a trimming strategy"), false;
  if (limit && (!options.trim || !options.trim->whole_nodes)) {
    ctx.Fail("ERR syntax error, LIMIT cannot be used without the special ~ option");
    return false;
  }
  if (options.trim) options.trim->references = options.references.value_or(StreamReferences::kKeep);
  if (options.trim && options.trim->whole_nodes)
    options.trim->limit = limit ? static_cast<uint64_t>(*limit) : UsualLimit(ctx);
  return true;
}

}  // namespace

std::optional<StreamIdText> ReadStreamId(Context& ctx, std::string_view text, StreamIdForm form,
                                         uint64_t missing_sequence) {
  StreamIdText read;
  if (Parse(text, form, missing_sequence, read)) return read;
  ctx.Fail("ERR Invalid stream ID specified as stream command argument");
  return std::nullopt;
}

std::optional<StreamId> ParseStreamId(std::string_view text) noexcept {
  StreamIdText read;
  if (!Parse(text, StreamIdForm::kStrict, 0, read)) return std::nullopt;
  return read.id;
}

std::optional<StreamId> ReadRangeStart(Context& ctx, std::string_view text) {
  bool open = false;
  std::optional<StreamId> id = ReadBound(ctx, text, 0, open);
  if (id && open && !id->Increment()) return ctx.Fail("ERR invalid start ID for the interval"), std::nullopt;
  return id;
}

std::optional<StreamId> ReadRangeEnd(Context& ctx, std::string_view text) {
  bool open = false;
  std::optional<StreamId> id = ReadBound(ctx, text, UINT64_MAX, open);
  if (id && open && !id->Decrement()) return ctx.Fail("ERR invalid end ID for the interval"), std::nullopt;
  return id;
}

void ReplyStreamId(Context& ctx, StreamId id) {
  char text[kLongestPart + 1 + kLongestPart];
  char* end = std::to_chars(text, text + kLongestPart, id.ms).ptr;
  *end++ = '-';
  end = std::to_chars(end, std::end(text), id.sequence).ptr;
  ctx.reply.Bulk({text, static_cast<size_t>(end - text)});
}

void ReplyStreamEntry(Context& ctx, const StreamEntry& entry) {
  ctx.reply.Array(2);
  ReplyStreamEntryParts(ctx, entry);
}

void ReplyStreamEntryParts(Context& ctx, const StreamEntry& entry) {
  ReplyStreamId(ctx, entry.id);
  ctx.reply.Array(2 * entry.fields());
  entry.ForEach([&](std::string_view field, std::string_view value) {
    ctx.reply.Bulk(field);
    ctx.reply.Bulk(value);
  });
}

size_t ReplyStreamRange(Context& ctx, const StreamValue& stream, StreamId low, StreamId high, uint64_t count,
                        bool falling) {
  size_t shown = 0;
  resp::Deferred array = ctx.reply.Defer();
  stream.ForRange(low, high, falling, [&](const StreamEntry& entry) {
    ReplyStreamEntry(ctx, entry);
    return ++shown != count;
  });
  array.Array(shown);
  return shown;
}

bool AcceptReferences(Args& args, std::optional<StreamReferences>& references) {
  if (args.Accept("KEEPREF"))
    references = StreamReferences::kKeep;
  else if (args.Accept("DELREF"))
    references = StreamReferences::kDelete;
  else if (args.Accept("ACKED"))
    references = StreamReferences::kAcked;
  else
    return false;
  return true;
}

bool ReadStreamAddOptions(Context& ctx, Args& args, bool adds, StreamAddOptions& options) {
  std::optional<int64_t> limit;
  while (!args.Done()) {
    if (adds && args.Peek() == "*") {
      args.Skip(1);
      break;
    }
    const bool by_length = args.Accept("MAXLEN", 1);
    if (by_length || args.Accept("MINID", 1)) {
      if (options.trim) {
        ctx.Fail("ERR syntax error, MAXLEN and MINID options at the same time are not compatible");
        return false;
      }
      options.trim = StreamTrim{.by = by_length ? StreamTrim::By::kLength : StreamTrim::By::kId};
      if (!ReadTrim(ctx, args, *options.trim)) return false;
    } else if (args.Accept("LIMIT", 1)) {
      limit = args.NextInteger();
      if (!limit) return ctx.Fail(errors::kNotInteger), false;
      if (*limit < 0) return ctx.Fail("ERR The LIMIT argument must be >= 0."), false;
    } else if (const bool known = options.references.has_value();
               AcceptReferences(args, options.references)) {
      if (known) return ctx.Fail(errors::kSyntax), false;
    } else if (adds && args.Accept("NOMKSTREAM")) {
      options.no_new_stream = true;
    } else if (adds) {
      options.id = ReadStreamId(ctx, args.Next(), StreamIdForm::kAnySequence);
      if (!options.id) return false;
      break;
    } else {
      return ctx.Fail(errors::kSyntax), false;
    }
  }
  return SetLimit(ctx, limit, adds, options);
}

}  // namespace mayfly
