// Libuv's streams (TCP and unix sockets) on simulated connections. Reads, writes and callbacks are those of
// libuv 1.44.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sim/uv_state.h"

namespace mayfly::sim {
namespace {

// The size that libuv suggests for a read, and how often it reads or writes at most for one event.
constexpr size_t kSuggestedBytes = 64 * 1024;
constexpr int kRounds = 32;

int InitStream(uv_loop_t* loop, uv_stream_t* handle, uv_handle_type type) {
  InitHandle(loop, AsHandle(handle), type);
  auto stream = std::make_unique<Stream>();
  stream->handle = handle;
  handle->u.reserved[0] = stream.get();
  handle->write_queue_size = 0;
  handle->read_cb = nullptr;
  handle->alloc_cb = nullptr;
  StateOf(loop).streams.push_back(std::move(stream));
  return 0;
}

bool IsOpen(const Stream& stream) noexcept { return (stream.handle->flags & kClosing) == 0; }

// ---- reading

// True if it emptied the socket: the last read got less than it had room for.
bool Read(Stream& stream) {
  uv_stream_t* const handle = stream.handle;
  for (int round = 0; round < kRounds && stream.reading; ++round) {
    uv_buf_t buffer = uv_buf_init(nullptr, 0);
    handle->alloc_cb(AsHandle(handle), kSuggestedBytes, &buffer);
    if (buffer.base == nullptr || buffer.len == 0) {
      handle->read_cb(handle, UV_ENOBUFS, &buffer);
      return false;
    }
    ssize_t size = stream.link->Read(buffer.base, buffer.len);
    if (size == UV_EAGAIN) {
      handle->read_cb(handle, 0, &buffer);
      return false;
    }
    if (size == 0) size = UV_EOF;
    if (size < 0) stream.reading = false;
    handle->read_cb(handle, size, &buffer);
    if (size < 0) return false;
    if (static_cast<size_t>(size) < buffer.len) return true;
  }
  return false;
}

// ---- writing

void RemovePrefix(std::vector<uv_buf_t>& pieces, size_t size) {
  size_t done = 0;
  while (done < pieces.size() && size >= pieces[done].len) size -= pieces[done++].len;
  pieces.erase(pieces.begin(), pieces.begin() + static_cast<ptrdiff_t>(done));
  if (size == 0) return;
  pieces.front().base += size;
  pieces.front().len -= size;
}

ssize_t WriteNow(const Stream& stream, const std::vector<uv_buf_t>& pieces) {
  return stream.link->Write(pieces, World::Current().turns());
}

void Feed(Stream& stream) {
  if (std::exchange(stream.fed, true)) return;
  StateOf(stream.handle->loop).fed.push_back(&stream);
}

// The first of the waiting writes is done.
void Finish(Stream& stream, int status) {
  stream.writes.front().status = status;
  stream.completed.push_back(std::move(stream.writes.front()));
  stream.writes.pop_front();
  Feed(stream);
}

void WriteWaiting(Stream& stream) {
  for (int round = 0; round < kRounds && !stream.writes.empty(); ++round) {
    Stream::Write& write = stream.writes.front();
    const ssize_t taken = WriteNow(stream, write.pieces);
    if (taken == UV_EAGAIN) return;
    if (taken < 0) return Finish(stream, static_cast<int>(taken));
    stream.handle->write_queue_size -= static_cast<size_t>(taken);
    RemovePrefix(write.pieces, static_cast<size_t>(taken));
    if (!write.pieces.empty()) return;
    Finish(stream, 0);
  }
}

void CallBack(Stream& stream) {
  std::deque<Stream::Write> completed;
  completed.swap(stream.completed);
  for (const Stream::Write& write : completed) {
    for (const uv_buf_t& piece : write.pieces) stream.handle->write_queue_size -= piece.len;
    if (write.done != nullptr) write.done(write.request, write.status);
  }
}

}  // namespace

bool IsActive(const Stream& stream) noexcept {
  return IsOpen(stream) && (stream.connecting || stream.reading || !stream.writes.empty());
}

bool IsReady(const Stream& stream) noexcept {
  if (!IsOpen(stream)) return false;
  if (stream.connecting) return stream.connecting->status->has_value();
  return (stream.reading && stream.link->readable()) || (!stream.writes.empty() && stream.link->writable());
}

// The connection is there, or refused, or given up.
static void FinishConnect(Stream& stream, int status) {
  const Stream::Connecting made = std::move(*stream.connecting);
  stream.connecting.reset();
  made.done(made.request, status);
}

void Deliver(Stream& stream) {
  if (stream.connecting) return FinishConnect(stream, **stream.connecting->status);
  if (stream.reading && stream.link->readable()) ++stream.link->polled;
  if (stream.reading && stream.link->readable() && Read(stream) && stream.reading && IsOpen(stream) &&
      stream.link->hung_up()) {
    // Libuv spares itself the read that would find the end: it comes in the same turn as the last bytes.
    stream.reading = false;
    const uv_buf_t nothing = uv_buf_init(nullptr, 0);
    stream.handle->read_cb(stream.handle, UV_EOF, &nothing);
  }
  if (!IsOpen(stream) || stream.writes.empty() || !stream.link->writable()) return;
  WriteWaiting(stream);
  CallBack(stream);
}

void RunFed(LoopState& state) {
  std::vector<Stream*> fed;
  fed.swap(state.fed);
  for (Stream* stream : fed) {
    stream->fed = false;
    if (!IsOpen(*stream)) continue;
    WriteWaiting(*stream);
    CallBack(*stream);
  }
}

void CloseStream(Stream& stream) {
  if (stream.link != nullptr) World::Current().CloseFile(stream.link->fd());
  stream.reading = false;
}

void DestroyStream(Stream& stream) {
  if (stream.connecting) FinishConnect(stream, UV_ECANCELED);
  while (!stream.writes.empty()) Finish(stream, UV_ECANCELED);
  CallBack(stream);
  LoopState& state = StateOf(stream.handle->loop);
  std::erase(state.fed, &stream);
  std::erase_if(state.streams, [&](const auto& other) { return other.get() == &stream; });
}

}  // namespace mayfly::sim

using namespace mayfly::sim;

extern "C" {

int uv_tcp_init(uv_loop_t* loop, uv_tcp_t* tcp) {
  return InitStream(loop, reinterpret_cast<uv_stream_t*>(tcp), UV_TCP);
}

int uv_pipe_init(uv_loop_t* loop, uv_pipe_t* pipe, int) {
  return InitStream(loop, reinterpret_cast<uv_stream_t*>(pipe), UV_NAMED_PIPE);
}

static int Open(uv_stream_t* handle, int fd) {
  StateOf(handle).link = World::Current().FindLink(fd);
  return StateOf(handle).link != nullptr ? 0 : UV_EBADF;
}

int uv_tcp_open(uv_tcp_t* tcp, uv_os_sock_t fd) { return Open(reinterpret_cast<uv_stream_t*>(tcp), fd); }
int uv_pipe_open(uv_pipe_t* pipe, uv_file fd) { return Open(reinterpret_cast<uv_stream_t*>(pipe), fd); }

int uv_read_start(uv_stream_t* handle, uv_alloc_cb lend, uv_read_cb take) {
  Stream& stream = StateOf(handle);
  if (!IsOpen(stream)) return UV_EINVAL;
  if (stream.reading) return UV_EALREADY;
  if (stream.link == nullptr) return UV_ENOTCONN;
  handle->alloc_cb = lend;
  handle->read_cb = take;
  stream.reading = true;
  return 0;
}

int uv_read_stop(uv_stream_t* handle) {
  StateOf(handle).reading = false;
  return 0;
}

int uv_try_write(uv_stream_t* handle, const uv_buf_t pieces[], unsigned int count) {
  const Stream& stream = StateOf(handle);
  if (!IsOpen(stream) || stream.link == nullptr) return UV_EBADF;
  if (!stream.writes.empty()) return UV_EAGAIN;
  return static_cast<int>(WriteNow(stream, {pieces, pieces + count}));
}

int uv_write(uv_write_t* request, uv_stream_t* handle, const uv_buf_t pieces[], unsigned int count,
             uv_write_cb done) {
  Stream& stream = StateOf(handle);
  if (!IsOpen(stream) || stream.link == nullptr) return UV_EBADF;
  request->handle = handle;
  stream.writes.push_back({.request = request, .pieces = {pieces, pieces + count}, .done = done});
  for (unsigned int i = 0; i < count; ++i) handle->write_queue_size += pieces[i].len;
  if (stream.writes.size() == 1) WriteWaiting(stream);
  return 0;
}

size_t uv_stream_get_write_queue_size(const uv_stream_t* handle) { return handle->write_queue_size; }

int uv_tcp_nodelay(uv_tcp_t* tcp, int enable) {
  StateOf(reinterpret_cast<uv_stream_t*>(tcp)).link->no_delay = enable != 0;
  return 0;
}

// ---- connections to other programs of the world, by their addresses

int uv_tcp_connect(uv_connect_t* request, uv_tcp_t* tcp, const sockaddr* address, uv_connect_cb done) {
  Stream& stream = StateOf(reinterpret_cast<uv_stream_t*>(tcp));
  World& world = World::Current();
  const int error = world.ConnectPrograms(*address, stream.link);
  if (error == -ENETUNREACH) return error;
  const auto status = std::make_shared<std::optional<int>>();
  world.At(world.now_ns() + world.DrawConnectMs() * World::kNsPerMs, [status, error] { *status = error; });
  stream.connecting = {.request = request, .done = done, .status = status};
  return 0;
}

// ---- addresses

static int GiveAddress(const sockaddr_storage& from, sockaddr* to, int* size) {
  const size_t room = std::min(static_cast<size_t>(*size), sizeof from);
  std::memcpy(to, &from, room);
  *size = static_cast<int>(room);
  return 0;
}

int uv_tcp_getpeername(const uv_tcp_t* tcp, sockaddr* name, int* size) {
  return GiveAddress(StateOf(reinterpret_cast<const uv_stream_t*>(tcp)).link->peer_address, name, size);
}

int uv_tcp_getsockname(const uv_tcp_t* tcp, sockaddr* name, int* size) {
  return GiveAddress(StateOf(reinterpret_cast<const uv_stream_t*>(tcp)).link->local_address, name, size);
}

int uv_pipe_getsockname(const uv_pipe_t* pipe, char* text, size_t* size) {
  const std::string& path = StateOf(reinterpret_cast<const uv_stream_t*>(pipe)).link->local_path;
  if (*size < path.size()) return UV_ENOBUFS;
  *size = path.copy(text, path.size());
  return 0;
}
}
