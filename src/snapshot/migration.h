// One MIGRATE under way: the keys go to another server while clients are served, and the client of MIGRATE waits.
//
//   connect, or take an idle connection --> AUTH, SELECT --> RESTORE, as many as the window takes --> replies --> more RESTOREs
//
// The commands that move a key are sent only when login and database are accepted: no key lands in the wrong database.
//
// Nothing is lost. A value is sent as of one moment, and clients may change the key before the target has confirmed the
// value. The key is watched from this moment on. When the confirmation comes:
//
//   the key here is           then
//   unchanged                 the key here is deleted
//   changed                   the present value is sent again, and replaces the target's copy
//   removed by a client       the target's copy is deleted, too
//   expired or evicted        the target's copy stays: it has the same deadline, or is the only copy left
//   changed, then gone        the target's copy is deleted: clients have written a newer value
//
// A key rarely changes during one exchange. If a key changes again and again, its writers wait during the next exchange
// (ParkingLot::HoldKey), for the timeout at most. Changes without a request, such as a member's deadline, still happen. After
// kMostSends the key stays here, and the target's copy is deleted.
//
// If the connection breaks, or the target does not answer in time, the unconfirmed keys stay here, and may exist at the
// target, too. A copy (COPY) is the value of one moment: copied keys are not watched.
//
// The target is not trusted: a reply is one short line, and nothing else from the target is kept.
//
// Memory: payloads of kWindowBytes, or of one larger value, are made and sent at a time.
//
// Borrows the parts of the server, and the session while it lives. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/changes/change.h"
#include "exec/dispatch/context.h"
#include "resp/reply_reader.h"
#include "server/outgoing.h"
#include "server/waiting/parking.h"
#include "snapshot/migrations.h"

namespace mayfly {

struct MigrationOrder {
  Route route;
  int64_t database = 0;  // of the target
  uint64_t timeout_ms = 0;
  bool copy = false;
  bool replace = false;
  std::vector<std::string> keys;
};

class Migration final : public PendingWork, private OutgoingConnection::Listener, private ChangeListener {
 public:
  static constexpr size_t kWindowBytes = size_t{1} << 20;
  static constexpr size_t kWindowKeys = 512;
  // After kSendsUnheld values of a key the key's writers wait. After kMostSends the migration gives the key up.
  static constexpr unsigned kSendsUnheld = 3;
  static constexpr unsigned kMostSends = 16;
  // A longer line is not a reply to our requests.
  static constexpr size_t kMostReplyBytes = 4096;

  // For the client of `ctx`. Throws std::bad_alloc.
  Migration(Context& ctx, MigrationOrder&& order);
  ~Migration() override;

  // Does everything that needs no waiting. Returns false if the migration is over. Throws std::bad_alloc; the migration is
  // then useless. REQUIRES: not over; a call of the same client.
  bool Continue(Context& ctx);
  // Ends the migration as if the target had not answered in time.
  void GiveUp() noexcept;
  // The target has to make progress by this time.
  uint64_t deadline_mono_ms() const noexcept { return deadline_mono_ms_; }

  // The answer when the migration is over: an error; or "", and whether any key was moved.
  const std::string& error() const noexcept { return error_; }
  bool any_moved() const noexcept { return moved_ != 0; }

 private:
  struct UnderWay {
    bool changed = false;  // here since its value was sent, otherwise than by its expiry or eviction
    bool held = false;     // the key's writers wait
    unsigned sends = 0;
  };
  using Keys = std::map<std::string, UnderWay, std::less<>>;

  enum class Reply : uint8_t { kLogin, kSelect, kRestore, kDelete };
  struct Awaited {
    Reply to;
    Keys::iterator key;  // of kRestore
    size_t bytes = 0;    // of key and payload
  };

  void OnNews() noexcept override;
  void OnChange(const Change& change) noexcept override;

  void Connect(Context& ctx);
  void SendGreeting();
  // Returns true if a reply was read.
  bool ReadReply(Context& ctx);
  void Take(Context& ctx, const resp::ReplyToken& reply);
  // The target has confirmed the key.
  void Confirm(Context& ctx, Keys::iterator key);
  void Flush();
  void SendMore(Context& ctx);
  bool SendNext(Context& ctx);
  void SendValue(Context& ctx, Keys::iterator key, const Entry& entry, std::string&& payload);
  void SendDelete(std::string_view key);
  void Forget(Keys::iterator key) noexcept;
  void Await(Awaited awaited);
  void NoteProgress(Now now) noexcept;
  // The connection has ended, or is useless.
  void OnLost(Context& ctx);
  void FailAs(std::string_view doing) noexcept;
  void Finish(Now now);
  bool AllSent() const noexcept { return next_ == order_.keys.size() && again_.empty(); }

  Migrations& migrations_;
  Databases& databases_;
  ParkingLot& parking_;
  uint64_t& bytes_;  // of all migrations
  Session& session_;
  const unsigned db_;
  MigrationOrder order_;
  Link link_;
  bool from_idle_ = false;
  bool ready_ = false;      // logged in, and the database is selected
  bool any_reply_ = false;  // on this connection
  bool over_ = false;
  size_t next_ = 0;  // of order_.keys
  Keys under_way_;   // sent and not confirmed, or to be sent again
  std::deque<Keys::iterator> again_;
  std::deque<Awaited> awaited_;
  size_t awaited_bytes_ = 0;
  std::string out_;  // requests not sent yet
  uint64_t sent_bytes_ = 0;
  uint64_t replies_ = 0;
  uint64_t progress_ = 0;
  uint64_t deadline_mono_ms_;
  uint64_t moved_ = 0;
  std::string error_;
};

}  // namespace mayfly
