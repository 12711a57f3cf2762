// A list of connections with a filter that wait for their turn, in order of arrival. Each list has a separate place in the
// connection's filter (net/socket/filter.h), so Add and Remove take constant time and no memory.
//
// Ownership: borrows the connections; a connection leaves before it is destroyed. Loop thread only.
#pragma once

#include <cassert>
#include <cstddef>

#include "net/client/connection.h"
#include "net/socket/filter.h"

namespace mayfly::net {

template <ListPlace Filter::* kPlace>
class ConnectionList {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  size_t size() const noexcept { return size_; }
  // REQUIRES: not empty.
  Connection& front() const noexcept { return *first_; }

  // Adds at the end. No effect if already listed.
  void Add(Connection& connection) noexcept {
    ListPlace& place = PlaceOf(connection);
    if (place.listed) return;
    place = {.next = nullptr, .prev = last_, .listed = true};
    (last_ != nullptr ? PlaceOf(*last_).next : first_) = &connection;
    last_ = &connection;
    ++size_;
  }
  // No effect if not listed.
  void Remove(Connection& connection) noexcept {
    ListPlace& place = PlaceOf(connection);
    if (!place.listed) return;
    (place.prev != nullptr ? PlaceOf(*place.prev).next : first_) = place.next;
    (place.next != nullptr ? PlaceOf(*place.next).prev : last_) = place.prev;
    place = {};
    --size_;
  }

 private:
  static ListPlace& PlaceOf(Connection& connection) noexcept {
    assert(connection.filter() != nullptr);
    return connection.filter()->*kPlace;
  }

  Connection* first_ = nullptr;
  Connection* last_ = nullptr;
  size_t size_ = 0;
};

}  // namespace mayfly::net
