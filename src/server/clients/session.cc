#include "server/clients/session.h"

#include "server/acl/user.h"
#include "server/clients/subscriptions.h"
#include "server/clients/tracking_state.h"
#include "server/clients/transaction.h"

namespace mayfly {

Session::Session(ChunkPool& chunks) : output(chunks), reply(output) {
  output.set_full_mark(&modes, BitOf(Mode::kOutputFull));
}

Session::~Session() = default;

bool Session::restricted() const noexcept { return user_ != nullptr && user_->restricted(); }

void Session::LogIn(const User* user) noexcept {
  user_ = user;
  Put(Mode::kStranger, user == nullptr);
  Put(Mode::kRestricted, user != nullptr && user->tests_keys());
}

}  // namespace mayfly
