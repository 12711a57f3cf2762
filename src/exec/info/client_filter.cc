#include "exec/info/client_filter.h"

#include <algorithm>
#include <string>

#include "base/time/clock.h"
#include "cache/keyspace/databases.h"
#include "server/acl/users.h"

namespace mayfly {
namespace {

// `ip` is like "10.0.0.1" or "::1". A client on a unix socket has no IP.
bool ComesFrom(std::string_view ip, const Session& session) noexcept {
  std::string_view peer = session.peer;
  const size_t colon = peer.rfind(':');
  if (session.over_unix_socket || colon == std::string_view::npos) return false;
  peer = peer.substr(0, colon);
  if (peer.starts_with('[') && peer.ends_with(']')) peer = peer.substr(1, peer.size() - 2);
  return peer == ip;
}

// The empty text matches no client: a missing name matches nothing.
bool IsCalled(const std::optional<std::string_view>& wanted, std::string_view text) noexcept {
  return !wanted || (!text.empty() && text == *wanted);
}

bool HasFlags(std::string_view wanted, std::string_view flags) noexcept {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](char flag) { return flags.find(flag) != std::string_view::npos; });
}

// Reads the conditions one by one. Each Read* returns true if the method's word was at the cursor and is read now. An error
// is answered and sets `failed_`.
class FilterReader {
 public:
  FilterReader(Context& ctx, Args& args, IdRule rule, ClientFilter& filter)
      : ctx_(ctx), args_(args), rule_(rule), filter_(filter) {}

  bool Read() {
    while (!args_.Done() && !failed_) {
      if (ReadText() || ReadId() || ReadNumber() || ReadWord()) continue;
      Fail(after_ids_ && rule_ == IdRule::kList ? kBadId : errors::kSyntax);
    }
    return !failed_;
  }

 private:
  static constexpr std::string_view kBadId = "ERR Invalid client ID";

  void Fail(std::string_view error) {
    ctx_.Fail(error);
    failed_ = true;
  }
  void FailRepeating(std::string_view error, std::string_view argument, std::string_view end = "'") {
    Fail(std::string(error) + std::string(errors::Repeated(argument)) + std::string(end));
  }

  bool ReadText() {
    struct TextFilter {
      std::string_view word;
      std::optional<std::string_view> ClientFilter::* text;
    };
    static constexpr TextFilter kTextFilters[] = {{"ADDR", &ClientFilter::address},
                                                  {"LADDR", &ClientFilter::local_address},
                                                  {"IP", &ClientFilter::ip},
                                                  {"NAME", &ClientFilter::name},
                                                  {"LIB-NAME", &ClientFilter::lib_name},
                                                  {"LIB-VER", &ClientFilter::lib_version},
                                                  {"FLAGS", &ClientFilter::flags}};
    const auto* found = std::find_if(std::begin(kTextFilters), std::end(kTextFilters),
                                     [&](const TextFilter& text) { return args_.Accept(text.word, 1); });
    if (found == std::end(kTextFilters)) return false;
    filter_.*(found->text) = args_.Next();
    after_ids_ = false;
    if (filter_.flags && filter_.flags->find_first_not_of(kClientFlags) != std::string_view::npos)
      FailRepeating("ERR Unknown flags found in the provided filter: ", *filter_.flags, "");
    return true;
  }

  // Reads one or more ids. (Redis takes one id in KILL, and nothing but ids after ID in LIST.)
  bool ReadId() {
    if (!args_.Accept("ID", 1)) return false;
    if (!filter_.ids) filter_.ids.emplace();
    const size_t before = args_.Left();
    while (!args_.Done()) {
      const std::optional<int64_t> id = ParseInteger(args_.Peek());
      if (!id || (rule_ == IdRule::kKill && *id <= 0)) break;
      filter_.ids->push_back(static_cast<uint64_t>(*id));
      args_.Skip(1);
    }
    after_ids_ = true;
    if (args_.Left() == before)
      Fail(rule_ == IdRule::kList ? kBadId : "ERR client-id should be greater than 0");
    return true;
  }

  bool ReadNumber() {
    if (args_.Accept("MAXAGE", 1)) return ReadSeconds("maxage", filter_.least_age_seconds);
    if (args_.Accept("IDLE", 1)) return ReadSeconds("idle", filter_.least_idle_seconds);
    if (!args_.Accept("DB", 1)) return false;
    after_ids_ = false;
    const std::optional<int64_t> db = args_.NextInteger();
    if (!db || *db != static_cast<int32_t>(*db)) {
      Fail("ERR DB is not an integer or out of range");
    } else if (const int64_t most = ctx_.server.databases.count() - 1; *db < 0 || *db > most) {
      Fail("ERR DB number should be between 0 and " + std::to_string(most));
    } else {
      filter_.db = static_cast<unsigned>(*db);
    }
    return true;
  }

  // Reads the least age, or the least time without a request.
  bool ReadSeconds(std::string_view name, uint64_t& seconds) {
    after_ids_ = false;
    const std::optional<int64_t> number = args_.NextInteger();
    if (!number) {
      Fail("ERR " + std::string(name) + " is not an integer or out of range");
    } else if (*number <= 0) {
      Fail("ERR " + std::string(name) + " should be greater than 0");
    } else {
      seconds = static_cast<uint64_t>(*number);
    }
    return true;
  }

  bool ReadWord() {
    if (args_.Accept("TYPE", 1)) {
      const std::string_view word = args_.Next();
      filter_.type = ClientTypeOf(word);
      if (!filter_.type) FailRepeating("ERR Unknown client type '", word);
    } else if (args_.Accept("USER", 1)) {
      const std::string_view user = args_.Next();
      filter_.user = ctx_.server.users.Find(user);
      if (filter_.user == nullptr) FailRepeating("ERR No such user '", user);
    } else if (args_.Accept("SKIPME", 1)) {
      const std::string_view word = args_.Next();
      filter_.skip_me = EqualsIgnoringCase(word, "YES");
      if (!filter_.skip_me && !EqualsIgnoringCase(word, "NO")) Fail(errors::kSyntax);
    } else {
      return false;
    }
    after_ids_ = false;
    return true;
  }

  Context& ctx_;
  Args& args_;
  const IdRule rule_;
  ClientFilter& filter_;
  bool after_ids_ = false;  // the condition before the cursor was ID
  bool failed_ = false;
};

}  // namespace

bool ClientFilter::Meets(const Session& session, const Session& me, Now now) const {
  return !(skip_me && &session == &me) && (user == nullptr || session.user() == user) &&
         (!type || *type == TypeOf(session)) && (!address || *address == session.peer) &&
         (!local_address || *local_address == session.local_text()) && (!ip || ComesFrom(*ip, session)) &&
         IsCalled(name, session.names().name) && IsCalled(lib_name, session.names().lib_name) &&
         IsCalled(lib_version, session.names().lib_version) && (!db || *db == session.db) &&
         (now.mono_ms - session.created_mono_ms) / kMsPerSecond >= least_age_seconds &&
         (now.mono_ms - session.active_mono_ms) / kMsPerSecond >= least_idle_seconds &&
         (!flags || HasFlags(*flags, FlagsOf(session)));
}

bool ReadClientFilter(Context& ctx, Args& args, IdRule rule, ClientFilter& filter) {
  return FilterReader(ctx, args, rule, filter).Read();
}

}  // namespace mayfly
