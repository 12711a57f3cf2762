// The context of a handler: the request's surroundings, valid until the handler returns.
#pragma once

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/time/clock.h"
#include "cache/keyspace/keyspace.h"
#include "exec/call/args.h"
#include "exec/call/call.h"
#include "exec/call/command_table.h"
#include "exec/call/errors.h"
#include "resp/writer.h"
#include "server/clients/session.h"
#include "server/figures/stats.h"
#include "server/server.h"

namespace mayfly {

struct Parked;
struct PendingWork;

// Thrown by a handler that cannot go on now: its request runs again from the start, a few milliseconds later.
// REQUIRES: Context::MayBePostponed(); the handler has changed nothing and written no reply.
struct RequestPostponed : std::exception {
  const char* what() const noexcept override { return "the request runs later"; }
};

enum class WakeReason : uint8_t;

// The entry and the value found by a command on values of type T; both null if the key is absent.
template <typename T>
struct Typed {
  Entry* entry = nullptr;
  T* value = nullptr;
};

// The facts of look-ahead about a request's first key.
struct FirstKey {
  uint64_t hash = 0;   // 0: nothing known
  HeapRef guess = {};  // the key's entry, perhaps
};

struct Context {
  Server& server;
  Session& session;
  const TableRow& row;
  Keyspace& keyspace;  // of the session's database
  resp::Writer& reply;
  Now now;
  Origin origin;
  FirstKey first_key = {};
  Parked* resumed = nullptr;  // set when a parked client's request runs again

  // Why this request runs again; kNone on its first run.
  WakeReason wake() const noexcept;
  // The key in argument `index`, hashed now unless it is the first key.
  [[gnu::always_inline]] Key KeyAt(const Args& args, size_t index) const noexcept {
    // Keyspace::Peek looks at the guess first, too, and needs no hash then.
    if (index == row.first_key && (first_key.guess || first_key.hash != 0))
      return {args[index], first_key.hash, first_key.guess};
    return keyspace.KeyOf(args[index]);
  }
  // For commands that read values: counts a hit or a miss, and an access of the entry.
  [[gnu::always_inline]] Entry* Read(const Key& key) {
    Entry* entry = keyspace.Find(key, now);
    CountLookup(key, entry);
    return entry;
  }
  // For commands that only look at keys (TTL, TYPE, EXISTS ...): counts a hit or a miss, but not an access.
  Entry* Look(const Key& key) {
    Entry* entry = keyspace.Peek(key, now);
    CountLookup(key, entry);
    return entry;
  }
  // Like Look, but a miss is no event: for OBJECT.
  Entry* LookUntold(const Key& key) {
    Entry* entry = keyspace.Peek(key, now);
    entry != nullptr ? CountHit(*entry) : CountUntold(key);
    return entry;
  }
  // Like Read, for a command on values of type T with a constant T::kType. False, after an error reply, if the key has a
  // value of another type.
  template <typename T>
  bool ReadTyped(const Key& key, Typed<T>& found) {
    return Require(Read(key), found);
  }
  // Like Keyspace::Find, with the same error.
  template <typename T>
  bool FindTyped(const Key& key, Typed<T>& found) {
    return Require(keyspace.Find(key, now), found);
  }
  template <typename T>
  bool Require(Entry* entry, Typed<T>& found) {
    if (entry == nullptr) return true;
    if (entry->encoding() != Encoding::kRich || entry->rich()->type != T::kType)
      return Fail(errors::kWrongType), false;
    found = {entry, static_cast<T*>(entry->rich())};
    return true;
  }
  // Answers with an error text that begins with a code ("ERR ...").
  void Fail(std::string_view error) { reply.Error(error); }
  // True if the call may wait. A call that may not wait answers as after the end of the wait.
  bool MayPark() const noexcept { return MayBlock(origin); }
  // True if the request may run again later. A request that was parked and woken would lose its place.
  bool MayBePostponed() const noexcept { return MayPark() && resumed == nullptr; }
  // A deadline in the past removes its key at once. But what a master has sent may come late, and another deadline may follow.
  bool RemovesOverdue() const noexcept { return origin != Origin::kMaster; }
  // Parks the client until one of `keys` is ready, an operator wakes the client, or `deadline_mono_ms` comes; the handler
  // returns without a reply. A client that was woken in vain and is parked again keeps its place in the line, and its first
  // deadline. Keys of another type than `wanted` do not wake the client. REQUIRES: MayPark().
  void Park(const Args& args, uint64_t deadline_mono_ms, std::span<const std::string_view> keys = {},
            std::optional<ValueType> wanted = std::nullopt);
  // Parks the client until its work wakes it, an operator does, or `deadline_mono_ms` comes; the handler returns without a
  // reply, and finds the work in `resumed` when it runs again. Moves from `work` only on success. Throws std::bad_alloc.
  // REQUIRES: MayPark().
  void Await(const Args& args, uint64_t deadline_mono_ms, std::unique_ptr<PendingWork>& work);
  // Lets the client wait until `wait_ms` after the request's arrival; CLIENT UNBLOCK does not end this wait. True if the
  // client waits now: the handler returns without a reply and runs again. REQUIRES: the command never calls Park.
  bool Delay(const Args& args, uint64_t wait_ms);
  // Makes a call within this call: at the same time, with this session, or with another session owned by the caller. Throws
  // std::bad_alloc (see Executor::MakeCall). REQUIRES: arguments is not empty; inner is kTransaction or kScript.
  Outcome MakeCall(std::span<const std::string_view> arguments, resp::Writer& to, Origin inner);
  Outcome MakeCall(Session& as, std::span<const std::string_view> arguments, resp::Writer& to, Origin inner);
  // Like the first MakeCall, for a command that was looked up before.
  Outcome MakeCall(std::span<const std::string_view> arguments, const TableRow& command, resp::Writer& to,
                   Origin inner);

 private:
  [[gnu::always_inline]] void CountLookup(const Key& key, const Entry* found) {
    if (found == nullptr) [[unlikely]]
      return CountMiss(key);
    CountHit(*found);
  }
  [[gnu::always_inline]] void CountHit(const Entry& found) {
    ++server.stats.keyspace_hits;
    if (found.owner() != keyspace.id()) [[unlikely]]
      keyspace.owners().CountHitOf(found);
  }
  // By value: a hit then need not keep the key in memory.
  void CountMiss(Key key);
  void CountUntold(const Key& key);
};

}  // namespace mayfly
