// What a value tells its listener (cache/entry/value_listener.h), by the type of the value. The listener begins and ends the listening by
// methods of the value. Loop thread only.
#pragma once

#include <cstdint>

#include "cache/entry/value_listener.h"
#include "cache/types/stream/stream_id.h"

namespace mayfly {

class Member;

// Hears of the members of a large hash, set or sorted set.
class MemberListener : public ValueListener {
 public:
  // The member is about to change or to go, and has to be passed `passes` times still (Members::StartWalk). Afterwards it
  // counts as passed.
  virtual void BeforeMember(const Member& member, unsigned passes) noexcept = 0;
  // The members are gone; each was reported before.
  virtual void OnGone() noexcept = 0;
};

// Hears of the elements of a large list.
class ListListener : public ValueListener {
 public:
  // So many elements are about to leave the head, or the tail.
  virtual void BeforeDropHead(uint64_t count) noexcept = 0;
  virtual void BeforeDropTail(uint64_t count) noexcept = 0;
  // That many more elements stand before the others.
  virtual void AfterPushHead(uint64_t count) noexcept = 0;
  // Any element may change. The call ends the listening.
  virtual void BeforeChange() noexcept = 0;
};

// Hears of the entries and the groups of a stream.
class StreamListener : public ValueListener {
 public:
  // A group is about to change, to come or to go.
  virtual void BeforeGroups() noexcept = 0;
  // Pending entries of groups that are still to be read.
  virtual size_t UnreadPending() const noexcept = 0;
  // An entry of the node with this first ID is about to go, perhaps with the node.
  virtual void BeforeNode(StreamId first) noexcept = 0;
  // Nodes with a lower first ID are read, and cost nothing when they change or go.
  virtual StreamId FirstUnread() const noexcept = 0;
};

}  // namespace mayfly
