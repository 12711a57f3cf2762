// The state of a simulated loop and of its streams, beside the fields of uv.h. A loop's internal_fields and a
// stream's first reserved word point to it.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <uv.h>

#include "sim/link.h"
#include "sim/world.h"

namespace mayfly::sim {

// In uv_handle_t::flags.
inline constexpr unsigned kActive = 1;
inline constexpr unsigned kClosing = 2;

template <typename Handle>
uv_handle_t* AsHandle(Handle* handle) noexcept {
  return reinterpret_cast<uv_handle_t*>(handle);
}

struct Stream {
  struct Write {
    uv_write_t* request;
    std::vector<uv_buf_t> pieces;  // what is left; the bytes are the program's
    uv_write_cb done;
    int status = 0;
  };
  // A connection that is being made. The world writes the status when there is one.
  struct Connecting {
    uv_connect_t* request;
    uv_connect_cb done;
    std::shared_ptr<std::optional<int>> status;
  };
  uv_stream_t* handle;
  std::shared_ptr<Link> link;
  std::optional<Connecting> connecting;
  bool reading = false;
  std::deque<Write> writes;
  std::deque<Write> completed;  // their callbacks are due
  bool fed = false;             // in LoopState::fed
};

inline Stream& StateOf(const uv_stream_t* stream) noexcept {
  return *static_cast<Stream*>(stream->u.reserved[0]);
}

// A lookup of a name. The world makes it ready.
struct Lookup {
  uv_getaddrinfo_t* request = nullptr;
  uv_getaddrinfo_cb done = nullptr;
  std::vector<std::string> addresses;
  int status = 0;
  bool ready = false;
};

struct LoopState {
  // By due time, then by the order in which they were started.
  std::set<std::pair<std::pair<uint64_t, uint64_t>, uv_timer_t*>> timers;
  // The last started one first, as in libuv.
  std::list<uv_idle_t*> idles;
  std::list<uv_prepare_t*> prepares;
  std::list<uv_check_t*> checks;
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<uv_poll_t*> polls;
  std::vector<uv_async_t*> asyncs;
  std::vector<uv_signal_t*> signals;
  std::list<std::shared_ptr<Lookup>> lookups;
  std::vector<Stream*> fed;           // with write callbacks that are due outside of the poll
  std::vector<uv_handle_t*> closing;  // run from the back
  size_t open_handles = 0;
  bool at_poll = false;  // the next uv_run goes on in the poll
  uint64_t wake_ns = 0;  // when that poll ends by itself
};

inline LoopState& StateOf(const uv_loop_t* loop) noexcept {
  return *static_cast<LoopState*>(loop->internal_fields);
}

// The part that all uv_*_init have in common.
void InitHandle(uv_loop_t* loop, uv_handle_t* handle, uv_handle_type type) noexcept;

// ---- of uv_stream.cc, for the loop
bool IsReady(const Stream& stream) noexcept;
bool IsActive(const Stream& stream) noexcept;
// Reads and writes as much as the stream can, and calls back.
void Deliver(Stream& stream);
// Calls back for writes that were done outside of the poll.
void RunFed(LoopState& state);
// The two halves of uv_close, before and after the loop's turn has ended.
void DestroyStream(Stream& stream);
void CloseStream(Stream& stream);
// ---- of uv_lookup.cc, for the loop
bool AnyLookupReady(const LoopState& state) noexcept;
// Calls back for the lookups that are ready.
void RunLookups(LoopState& state);

}  // namespace mayfly::sim
