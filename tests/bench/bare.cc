// The bare server: libuv and nothing else. It looks nothing up and sends one constant reply of 64 bytes to
// every request, so its processor time per request is what the kernel and libuv cost by themselves.
//
// Usage: bench_bare PORT
// It counts a request for each '*' that it reads, so neither keys nor values may contain one.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <uv.h>

namespace mayfly::bench {
namespace {

constexpr size_t kReadBytes = 64 * 1024;
constexpr int kBacklog = 511;

class BareServer {
 public:
  explicit BareServer(uv_loop_t* loop) : loop_(loop), input_(kReadBytes) {}

  // 0, or libuv's error code.
  int Listen(int port) {
    sockaddr_in address{};
    uv_tcp_init(loop_, &listener_);
    listener_.data = this;
    int code = uv_ip4_addr("127.0.0.1", port, &address);
    if (code == 0) code = uv_tcp_bind(&listener_, reinterpret_cast<sockaddr*>(&address), 0);
    if (code == 0) code = uv_listen(reinterpret_cast<uv_stream_t*>(&listener_), kBacklog, OnConnection);
    return code;
  }

 private:
  struct Write {
    uv_write_t request;
    std::string bytes;
  };

  static void OnConnection(uv_stream_t* listener, int status) {
    if (status < 0) return;
    auto* self = static_cast<BareServer*>(listener->data);
    auto* client = new uv_tcp_t;
    uv_tcp_init(self->loop_, client);
    client->data = self;
    auto* stream = reinterpret_cast<uv_stream_t*>(client);
    if (uv_accept(listener, stream) != 0) return Close(stream);
    uv_tcp_nodelay(client, 1);
    uv_read_start(stream, LendInput, OnRead);
  }

  static void LendInput(uv_handle_t* handle, size_t, uv_buf_t* buffer) {
    std::vector<char>& input = static_cast<BareServer*>(handle->data)->input_;
    *buffer = uv_buf_init(input.data(), static_cast<unsigned>(input.size()));
  }

  static void OnRead(uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) {
    if (size < 0) return Close(stream);
    static_cast<BareServer*>(stream->data)
        ->Answer(stream, std::count(buffer->base, buffer->base + size, '*'));
  }

  void Answer(uv_stream_t* stream, ptrdiff_t requests) {
    replies_.clear();
    for (; requests > 0; --requests) replies_ += reply_;
    uv_buf_t out = uv_buf_init(replies_.data(), static_cast<unsigned>(replies_.size()));
    const int written = std::max(uv_try_write(stream, &out, 1), 0);
    if (static_cast<size_t>(written) == replies_.size()) return;
    auto rest = std::make_unique<Write>(Write{{}, replies_.substr(static_cast<size_t>(written))});
    out = uv_buf_init(rest->bytes.data(), static_cast<unsigned>(rest->bytes.size()));
    rest->request.data = rest.get();
    if (uv_write(&rest->request, stream, &out, 1, OnWritten) == 0) static_cast<void>(rest.release());
  }

  static void OnWritten(uv_write_t* request, int) { delete static_cast<Write*>(request->data); }

  static void Close(uv_stream_t* stream) {
    uv_close(reinterpret_cast<uv_handle_t*>(stream),
             [](uv_handle_t* handle) { delete reinterpret_cast<uv_tcp_t*>(handle); });
  }

  const std::string reply_ = "$64\r\n" + std::string(64, 'v') + "\r\n";
  uv_loop_t* loop_;
  uv_tcp_t listener_{};
  std::vector<char> input_;
  std::string replies_;
};

}  // namespace
}  // namespace mayfly::bench

int main(int argc, char** argv) {
  const int port = argc == 2 ? std::atoi(argv[1]) : 0;
  if (port <= 0) {
    std::fprintf(stderr, "usage: %s PORT\n", argv[0]);
    return 2;
  }
  mayfly::bench::BareServer server(uv_default_loop());
  if (const int code = server.Listen(port); code != 0) {
    std::fprintf(stderr, "port %d: %s\n", port, uv_strerror(code));
    return 1;
  }
  return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
