// The functions that libuv calls to read a connection without a filter. Each class of clients has a pair of functions: no
// call on the way of a request is virtual.
#pragma once

#include <new>
#include <span>

#include "net/client/clients.h"
#include "net/client/connection.h"

namespace mayfly::net {

template <typename Client>
void Connection::LendTo(uv_handle_t* handle, size_t, uv_buf_t* buffer) {
  buffer->base = nullptr;
  buffer->len = 0;
  Connection& connection = Of(handle->data);
  if (!connection.BeginRead()) return;
  try {
    if (connection.state_ != State::kOpen) {
      buffer->base = connection.LendToDrop();
      buffer->len = kReadBufferBytes;
      return;
    }
    const std::span<char> room = static_cast<Client&>(connection).Client::LendInput();
    buffer->base = room.data();
    buffer->len = room.size();
  } catch (const std::bad_alloc&) {  // there may be memory in the next turn
  }
}

template <typename Client>
void Connection::TakeFor(uv_stream_t* stream, ssize_t n, const uv_buf_t* buffer) {
  Connection& connection = Of(stream->data);
  if (n <= 0) return connection.OnReadError(n);
  const auto size = static_cast<size_t>(n);
  if (connection.state_ != State::kOpen) return connection.OnDroppedInput(size);
  connection.CountInput(size);
  const bool full = size == buffer->len;
  static_cast<Client&>(connection).Client::TakeInput({buffer->base, size});
  if (full) [[unlikely]]
    connection.OnFullRead(size);
  connection.clients_.EndTurnIfFull();
}

template <typename Client>
inline constexpr Connection::ReadCalls Connection::kReadCallsOf = {&Connection::LendTo<Client>,
                                                                   &Connection::TakeFor<Client>};

}  // namespace mayfly::net
