// The context of a handler: the request's surroundings, valid until the handler returns.
#pragma once

#include <cstdint>
#include <initializer_list>
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
enum class WakeReason : uint8_t;

// What a command finds that works on values of type T; both null if the key is absent.
template <typename T>
struct Typed {
  Entry* entry = nullptr;
  T* value = nullptr;
};

// What look-ahead knows about a request's first key.
struct FirstKey {
  uint64_t hash = 0;   // 0: nothing
  HeapRef guess = {};  // its entry, perhaps
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
  const Parked* resumed = nullptr;  // set when a parked client's request runs again

  // Why this request runs again; kNone on its first run.
  WakeReason wake() const noexcept;
  // The key in argument `index`, hashed now unless it is the first key.
  [[gnu::always_inline]] Key KeyAt(const Args& args, size_t index) const noexcept {
    if (index == row.first_key && first_key.hash != 0) return {args[index], first_key.hash, first_key.guess};
    return keyspace.KeyOf(args[index]);
  }
  // For commands that read values: counts a hit or a miss, and an access of the entry.
  [[gnu::always_inline]] Entry* Read(const Key& key) {
    Entry* entry = keyspace.Find(key, now);
    CountLookup(key, entry);
    return entry;
  }
  // For commands that only look (TTL, TYPE, EXISTS ...): counts a hit or a miss, but not an access.
  Entry* Look(const Key& key) {
    Entry* entry = keyspace.Peek(key, now);
    CountLookup(key, entry);
    return entry;
  }
  // As Look, but a miss is no event: for OBJECT.
  Entry* LookUntold(const Key& key) {
    Entry* entry = keyspace.Peek(key, now);
    entry != nullptr ? CountHit(*entry) : CountUntold(key);
    return entry;
  }
  // As Read, for a command on values of type T, which has a constant T::kType. False, after having answered the
  // error, if the key holds another type.
  template <typename T>
  bool ReadTyped(const Key& key, Typed<T>& found) {
    return Require(Read(key), found);
  }
  // As Keyspace::Find, likewise.
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
  // Answers with an error text that carries its code ("ERR ...").
  void Fail(std::string_view error) { reply.Error(error); }
  // Whether the call may wait. One that may not answers as if its time were over.
  bool MayPark() const noexcept { return MayBlock(origin); }
  // Parks the client until one of `keys` is there, it is woken, or `deadline_mono_ms` comes; the handler returns
  // without a reply. A client that was woken in vain and is parked again keeps its place among those who wait, and
  // its first deadline. Keys of another type than `wanted` do not wake it.
  // REQUIRES: MayPark().
  void Park(const Args& args, uint64_t deadline_mono_ms, std::span<const std::string_view> keys = {},
            std::optional<ValueType> wanted = std::nullopt);
  // Lets the client wait `wait_ms` since the request came; CLIENT UNBLOCK does not end that. True if it waits
  // now: the handler returns without a reply and runs again. REQUIRES: the command never calls Park.
  bool Delay(const Args& args, uint64_t wait_ms);
  // Makes a call within this one: at the same time, with this session, or another one that its caller owns.
  // Throws std::bad_alloc (see Executor::MakeCall).
  // REQUIRES: arguments is not empty; inner is kTransaction or kScript.
  Outcome MakeCall(std::span<const std::string_view> arguments, resp::Writer& to, Origin inner);
  Outcome MakeCall(Session& as, std::span<const std::string_view> arguments, resp::Writer& to, Origin inner);
  // As the first, of a command that was looked up before.
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
  // By value, so that a hit need not keep the key in memory.
  void CountMiss(Key key);
  void CountUntold(const Key& key);
};

}  // namespace mayfly
