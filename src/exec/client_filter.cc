#include "exec/client_filter.h"

#include <string>

#include "exec/authentication.h"

namespace mayfly {

bool ClientFilter::Meets(const Session& session, const Session& me, Now now) const noexcept {
  constexpr uint64_t kMsPerSecond = 1000;
  return !(skip_me && &session == &me) && (!id || *id == session.id) && (!type || *type == TypeOf(session)) &&
         (!address || *address == session.peer) && (!local_address || *local_address == session.local) &&
         (now.mono_ms - session.created_mono_ms) / kMsPerSecond >= least_age_seconds;
}

bool ReadClientFilter(Context& ctx, Args& args, ClientFilter& filter) {
  const auto fail = [&ctx](std::string_view error) { return ctx.Fail(error), false; };
  while (!args.Done()) {
    if (args.Accept("ID", 1)) {
      const std::optional<int64_t> id = args.NextInteger();
      if (!id || *id <= 0) return fail("ERR client-id should be greater than 0");
      filter.id = static_cast<uint64_t>(*id);
    } else if (args.Accept("TYPE", 1)) {
      filter.type = ClientTypeOf(args.Peek());
      if (!filter.type)
        return fail("ERR Unknown client type '" + std::string(errors::Repeated(args.Next())) + "'");
      args.Skip(1);
    } else if (args.Accept("ADDR", 1)) {
      filter.address = args.Next();
    } else if (args.Accept("LADDR", 1)) {
      filter.local_address = args.Next();
    } else if (args.Accept("USER", 1)) {
      const std::string_view user = args.Next();
      if (user != kDefaultUser) return fail("ERR No such user '" + std::string(errors::Repeated(user)) + "'");
    } else if (args.Accept("SKIPME", 1)) {
      filter.skip_me = EqualsIgnoringCase(args.Peek(), "YES");
      if (!filter.skip_me && !EqualsIgnoringCase(args.Peek(), "NO")) return fail(errors::kSyntax);
      args.Skip(1);
    } else if (args.Accept("MAXAGE", 1)) {  // of Redis 7.4, where it means: at least so old
      const std::optional<int64_t> age = args.NextInteger();
      if (!age) return fail("ERR maxage is not an integer or out of range");
      if (*age <= 0) return fail("ERR maxage should be greater than 0");
      filter.least_age_seconds = static_cast<uint64_t>(*age);
    } else {
      return fail(errors::kSyntax);
    }
  }
  return true;
}

}  // namespace mayfly
