// One MIGRATE on its way: the keys go to another server while clients are served, and its client waits.
//
//   connect, or take an idle connection --> AUTH, SELECT --> RESTORE, as many as the window takes --> replies --> the next ones
//
// The commands that move a key are sent only when login and database are accepted: no key lands in the wrong database.
//
// Nothing is lost. A value is sent as it is at one moment, and clients may change the key before the target has confirmed it.
// So the key is watched from that moment on, and when the confirmation comes:
//
//   the key here is           then
//   unchanged                 it is deleted here
//   changed                   its present value is sent again, and replaces the copy there
//   removed by a client       the copy there is deleted, too
//   expired or evicted        the copy there stays: it has the same deadline, or is the only one left
//   changed, and gone then    the copy there is deleted: it is older than what clients have written
//
// Mostly a key is changed rarely in the time of one exchange. If it was changed again and again, its writers wait during the
// next exchange (ParkingLot::HoldKey), for the timeout at most. What no client asks for, such as a member's deadline, may still
// change it; after kMostSends the key stays here, and the copy there is deleted.
//
// If the connection breaks, or the target does not answer in time, the unconfirmed keys stay here, and may be there, too. A
// copy (COPY) is the value of one moment, and needs none of this.
//
// The target is not trusted: a reply is one short line, and nothing else of what it sends is kept.
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

#include "cache/keyspace/change.h"
#include "exec/dispatch/context.h"
#include "resp/reply_reader.h"
#include "server/outgoing.h"
#include "server/waiting/parking.h"
#include "snapshot/migrations.h"

namespace mayfly {

struct MigrationOrder {
  Route route;
  int64_t database = 0;  // there
  uint64_t timeout_ms = 0;
  bool copy = false;
  bool replace = false;
  std::vector<std::string> keys;
};

class Migration final : public PendingWork, private OutgoingConnection::Ear, private ChangeListener {
 public:
  static constexpr size_t kWindowBytes = size_t{1} << 20;
  static constexpr size_t kWindowKeys = 512;
  // So many values of a key are sent before its writers wait, and before it is given up.
  static constexpr unsigned kSendsUnheld = 3;
  static constexpr unsigned kMostSends = 16;
  // A longer line is no reply to our requests.
  static constexpr size_t kMostReplyBytes = 4096;

  // For the client of `ctx`. Throws std::bad_alloc.
  Migration(Context& ctx, MigrationOrder&& order);
  ~Migration() override;

  // Does what can be done without waiting; false if it is over. Throws std::bad_alloc, and is of no more use then.
  // REQUIRES: not over; a call of the same client.
  bool GoOn(Context& ctx);
  // Ends it as if the target had not answered in time.
  void GiveUp() noexcept;
  // The target has to do something until then.
  uint64_t deadline_mono_ms() const noexcept { return deadline_mono_ms_; }

  // What to answer when it is over: an error; or "", and whether there was a key to move.
  const std::string& error() const noexcept { return error_; }
  bool any_moved() const noexcept { return moved_ != 0; }

 private:
  // What has become of a key here since its value was sent. kGone: expired or evicted, and not changed before.
  enum class Since : uint8_t { kUnchanged, kGone, kChanged };
  struct UnderWay {
    Since since = Since::kUnchanged;
    bool held = false;  // its writers wait
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
  // True if a reply was read.
  bool ReadReply(Context& ctx);
  void Take(Context& ctx, const resp::ReplyToken& reply);
  // The target has the key.
  void Settle(Context& ctx, Keys::iterator key);
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
  std::string out_;  // requests that are not sent yet
  uint64_t sent_bytes_ = 0;
  uint64_t replies_ = 0;
  uint64_t progress_ = 0;
  uint64_t deadline_mono_ms_;
  uint64_t moved_ = 0;
  std::string error_;
};

}  // namespace mayfly
