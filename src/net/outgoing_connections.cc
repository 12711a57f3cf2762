#include "net/outgoing_connections.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "net/tls/tls_stream.h"

#include <arpa/inet.h>
#include <netinet/in.h>

namespace mayfly::net {
namespace {

// False if `host` is no numeric address.
bool ReadNumericAddress(const std::string& host, uint16_t port, sockaddr_storage& address) noexcept {
  address = {};
  auto& four = reinterpret_cast<sockaddr_in&>(address);
  auto& six = reinterpret_cast<sockaddr_in6&>(address);
  if (inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    return true;
  }
  if (inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) != 1) return false;
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  return true;
}

}  // namespace

// A socket, for one address. Deletes itself when libuv has closed it.
struct OutgoingConnections::Socket {
  uv_tcp_t tcp;
  uv_connect_t connecting;
  Connection* owner;  // null: it is being closed
};

// A name that is looked up. Deletes itself when libuv is done.
struct OutgoingConnections::Lookup {
  uv_getaddrinfo_t request;
  Connection* owner;  // null: nobody waits for the addresses
};

// Bytes on their way to the system. Deletes itself when libuv is done.
struct OutgoingConnections::Write {
  uv_write_t request;
  std::string bytes;
  Socket* socket = nullptr;
};

class OutgoingConnections::Connection final : public OutgoingConnection {
 public:
  Connection(OutgoingConnections& all, uint16_t port, Listener& listener)
      : all_(&all), listener_(&listener), port_(port) {
    all.open_.push_back(this);
  }
  // REQUIRES: Begin was not called.
  void UseTls(std::unique_ptr<TlsTransport> transport) {
    tls_ = std::make_unique<TlsStream>(std::move(transport));
  }
  ~Connection() override { Detach(); }

  State state() const noexcept override { return state_; }
  std::string_view problem() const noexcept override { return problem_; }
  void set_listener(Listener& listener) noexcept override { listener_ = &listener; }
  void Send(std::string bytes) override;
  size_t unsent() const noexcept override;
  std::string_view received() const noexcept override {
    return std::string_view(received_).substr(consumed_);
  }
  void Consume(size_t size) noexcept override;

  void Begin(const std::string& host);
  // Closes what is open, without news.
  void End(State state) noexcept {
    state_ = state;
    Detach();
  }

 private:
  static Socket& SocketOf(void* handle) noexcept {
    return *static_cast<Socket*>(static_cast<uv_handle_t*>(handle)->data);
  }
  void BeginLookup(const std::string& host);
  void OnAddresses(int status, const addrinfo* found) noexcept;
  // Goes on with the next address, or ends.
  void ConnectToNext() noexcept;
  bool StartConnect(const sockaddr_storage& address) noexcept;
  void OnConnect(int status) noexcept;
  void BeginHandshake() noexcept;
  bool StartReading() noexcept;
  void OnRead(ssize_t size) noexcept;
  // False if this brought nothing new for the listener.
  bool TakeCiphertext(std::string_view ciphertext);
  void OnEndOfInput() noexcept;
  // False: it has ended.
  bool StartWrite(std::unique_ptr<Write> write) noexcept;
  void OnWritten(int status, size_t size) noexcept;
  // Writes the next piece of ciphertext, unless one is on its way.
  void WriteCiphertext();
  void SayEnd() noexcept;
  void CloseSocket() noexcept;
  void Detach() noexcept;
  // May destroy this.
  void Tell() noexcept { listener_->OnNews(); }

  OutgoingConnections* all_;  // null: detached
  Listener* listener_;
  const uint16_t port_;
  State state_ = State::kConnecting;
  Lookup* lookup_ = nullptr;
  Socket* socket_ = nullptr;
  std::vector<sockaddr_storage> addresses_;      // the next one last
  std::vector<std::unique_ptr<Write>> waiting_;  // until it is connected
  std::string received_;
  size_t consumed_ = 0;
  bool reading_ = false;
  std::unique_ptr<TlsStream> tls_;  // null: without TLS, or ended
  std::string problem_;
  bool connected_ = false;          // so the handshake of TLS can begin
  bool ciphertext_on_way_ = false;  // what tls_ has to send next is being written
};

// ---- the address

void OutgoingConnections::Connection::Begin(const std::string& host) {
  addresses_.resize(1);
  if (ReadNumericAddress(host, port_, addresses_[0])) return ConnectToNext();
  addresses_.clear();
  BeginLookup(host);
}

void OutgoingConnections::Connection::BeginLookup(const std::string& host) {
  if (host.empty() || host.find('\0') != std::string::npos) return End(State::kNoAddress);
  auto lookup = std::make_unique<Lookup>();
  lookup->owner = this;
  lookup->request.data = lookup.get();
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  const auto done = [](uv_getaddrinfo_t* request, int status, addrinfo* found) {
    const std::unique_ptr<Lookup> ended(static_cast<Lookup*>(request->data));
    if (ended->owner != nullptr) ended->owner->OnAddresses(status, found);
    uv_freeaddrinfo(found);
  };
  if (uv_getaddrinfo(&all_->loop_, &lookup->request, done, host.c_str(), nullptr, &hints) != 0)
    return End(State::kNoAddress);
  lookup_ = lookup.release();
}

void OutgoingConnections::Connection::OnAddresses(int status, const addrinfo* found) noexcept {
  all_->begin_turn_();
  lookup_ = nullptr;
  try {
    for (const addrinfo* at = status == 0 ? found : nullptr; at != nullptr; at = at->ai_next) {
      if (at->ai_family != AF_INET && at->ai_family != AF_INET6) continue;
      sockaddr_storage& address = addresses_.emplace_back();
      std::memcpy(&address, at->ai_addr, std::min(sizeof address, size_t{at->ai_addrlen}));
      in_port_t& port = at->ai_family == AF_INET ? reinterpret_cast<sockaddr_in&>(address).sin_port
                                                 : reinterpret_cast<sockaddr_in6&>(address).sin6_port;
      port = htons(port_);
    }
  } catch (const std::bad_alloc&) {  // fewer addresses will do
  }
  std::reverse(addresses_.begin(), addresses_.end());
  addresses_.empty() ? End(State::kNoAddress) : ConnectToNext();
  if (ended()) Tell();
}

// ---- connecting

void OutgoingConnections::Connection::ConnectToNext() noexcept {
  CloseSocket();
  while (!addresses_.empty()) {
    const sockaddr_storage address = addresses_.back();
    addresses_.pop_back();
    if (StartConnect(address)) return;
    CloseSocket();
  }
  End(State::kRefused);
}

bool OutgoingConnections::Connection::StartConnect(const sockaddr_storage& address) noexcept {
  auto socket = std::unique_ptr<Socket>(new (std::nothrow) Socket);
  if (socket == nullptr || uv_tcp_init(&all_->loop_, &socket->tcp) != 0) return false;
  socket->owner = this;
  socket->tcp.data = socket->connecting.data = socket.get();
  socket_ = socket.release();  // closed, and not deleted, from here on
  const auto done = [](uv_connect_t* request, int status) {
    const Socket& connected = *static_cast<Socket*>(request->data);
    if (connected.owner != nullptr) connected.owner->OnConnect(status);
  };
  return uv_tcp_connect(&socket_->connecting, &socket_->tcp, reinterpret_cast<const sockaddr*>(&address),
                        done) == 0;
}

void OutgoingConnections::Connection::OnConnect(int status) noexcept {
  all_->begin_turn_();
  if (status != 0) {
    ConnectToNext();
    if (ended()) Tell();
    return;
  }
  connected_ = true;
  addresses_.clear();
  uv_tcp_nodelay(&socket_->tcp, 1);
  if (!StartReading()) {
    End(State::kLost);
    return Tell();
  }
  if (tls_ != nullptr) return BeginHandshake();
  state_ = State::kOpen;
  for (std::unique_ptr<Write>& write : std::exchange(waiting_, {})) {
    if (!StartWrite(std::move(write))) break;
  }
  Tell();
}

// The first message of the handshake waits in tls_.
void OutgoingConnections::Connection::BeginHandshake() noexcept {
  try {
    WriteCiphertext();
  } catch (const std::bad_alloc&) {
    End(State::kLost);
  }
  if (ended()) Tell();
}

// ---- reading

bool OutgoingConnections::Connection::StartReading() noexcept {
  const auto lend = [](uv_handle_t* handle, size_t, uv_buf_t* room) {
    const Connection* const owner = SocketOf(handle).owner;
    *room = owner == nullptr
                ? uv_buf_init(nullptr, 0)
                : uv_buf_init(owner->all_->input_.data(), static_cast<unsigned>(owner->all_->input_.size()));
  };
  const auto take = [](uv_stream_t* stream, ssize_t size, const uv_buf_t*) {
    if (Connection* const owner = SocketOf(stream).owner; owner != nullptr && size != 0) owner->OnRead(size);
  };
  reading_ = uv_read_start(reinterpret_cast<uv_stream_t*>(&socket_->tcp), lend, take) == 0;
  return reading_;
}

void OutgoingConnections::Connection::OnRead(ssize_t size) noexcept {
  all_->begin_turn_();
  if (size < 0) {
    OnEndOfInput();
    return Tell();
  }
  bool is_news = true;
  try {
    received_.erase(0, std::exchange(consumed_, 0));
    const std::string_view bytes(all_->input_.data(), static_cast<size_t>(size));
    if (tls_ != nullptr)
      is_news = TakeCiphertext(bytes);
    else
      received_.append(bytes);
  } catch (const std::bad_alloc&) {
    End(State::kLost);
  }
  if (reading_ && received_.size() >= kMostReceived) {
    uv_read_stop(reinterpret_cast<uv_stream_t*>(&socket_->tcp));
    reading_ = false;
  }
  if (is_news) Tell();
}

bool OutgoingConnections::Connection::TakeCiphertext(std::string_view ciphertext) {
  const State before = state_;
  const size_t size_before = received_.size();
  tls_->Receive(ciphertext, received_);
  const bool begun = tls_->begun();
  if (begun) state_ = State::kOpen;
  WriteCiphertext();  // replies, perhaps an alert
  if (!ended() && tls_->ended()) {
    problem_ = tls_->Problem();
    End(begun ? State::kLost : State::kNoTls);
  }
  return state_ != before || received_.size() != size_before;
}

void OutgoingConnections::Connection::OnEndOfInput() noexcept {
  const bool in_handshake = tls_ != nullptr && !tls_->begun();
  if (!in_handshake) return End(State::kLost);
  try {
    problem_ = "the server has closed the connection";
  } catch (const std::bad_alloc&) {  // the state alone will do
  }
  End(State::kNoTls);
}

void OutgoingConnections::Connection::Consume(size_t size) noexcept {
  assert(size <= received().size());
  consumed_ += size;
  if (received().size() >= kMostReceived || reading_ || socket_ == nullptr || state_ != State::kOpen) return;
  if (!StartReading()) End(State::kLost);
}

// ---- writing

void OutgoingConnections::Connection::Send(std::string bytes) {
  if (ended() || bytes.empty()) return;
  if (tls_ != nullptr) {
    tls_->Send(std::move(bytes));
    return WriteCiphertext();
  }
  auto write = std::make_unique<Write>();
  write->bytes = std::move(bytes);
  if (state_ == State::kConnecting) return waiting_.push_back(std::move(write));
  StartWrite(std::move(write));
}

bool OutgoingConnections::Connection::StartWrite(std::unique_ptr<Write> write) noexcept {
  write->request.data = write.get();
  write->socket = socket_;
  uv_buf_t piece = uv_buf_init(write->bytes.data(), 0);
  piece.len = write->bytes.size();
  const auto done = [](uv_write_t* request, int status) {
    const std::unique_ptr<Write> ended(static_cast<Write*>(request->data));
    if (Connection* const owner = ended->socket->owner) owner->OnWritten(status, ended->bytes.size());
  };
  if (uv_write(&write->request, reinterpret_cast<uv_stream_t*>(&socket_->tcp), &piece, 1, done) != 0) {
    End(State::kLost);
    return false;
  }
  static_cast<void>(write.release());
  return true;
}

void OutgoingConnections::Connection::OnWritten(int status, size_t size) noexcept {
  if (status == 0 && tls_ == nullptr) return;
  // A server that breaks off by TLS has said why, and that is still to be read.
  if (status != 0 && tls_ != nullptr && reading_) return;
  all_->begin_turn_();
  if (status != 0) {
    End(State::kLost);
    return Tell();
  }
  ciphertext_on_way_ = false;
  try {
    tls_->Sent(size);
    WriteCiphertext();
  } catch (const std::bad_alloc&) {
    End(State::kLost);
  }
  if (ended()) Tell();
}

// Libuv may need the bytes longer than this lives.
void OutgoingConnections::Connection::WriteCiphertext() {
  if (!connected_ || ciphertext_on_way_) return;
  const std::string_view bytes = tls_->ToSend();
  if (bytes.empty()) return;
  auto write = std::make_unique<Write>();
  write->bytes = bytes;
  ciphertext_on_way_ = StartWrite(std::move(write));
}

// As far as the system takes the bytes now.
void OutgoingConnections::Connection::SayEnd() noexcept {
  if (tls_ == nullptr || socket_ == nullptr || ciphertext_on_way_ || !tls_->begun() || tls_->ended()) return;
  try {
    tls_->End();
    const std::string_view bytes = tls_->ToSend();
    uv_buf_t piece = uv_buf_init(const_cast<char*>(bytes.data()), static_cast<unsigned>(bytes.size()));
    if (!bytes.empty()) uv_try_write(reinterpret_cast<uv_stream_t*>(&socket_->tcp), &piece, 1);
  } catch (const std::bad_alloc&) {  // the end of the socket says it, too
  }
}

size_t OutgoingConnections::Connection::unsent() const noexcept {
  if (tls_ != nullptr) return tls_->unsent();
  if (state_ == State::kOpen)  // without TLS
    return uv_stream_get_write_queue_size(reinterpret_cast<const uv_stream_t*>(&socket_->tcp));
  size_t sum = 0;
  for (const std::unique_ptr<Write>& write : waiting_) sum += write->bytes.size();
  return sum;
}

// ---- the end

void OutgoingConnections::Connection::CloseSocket() noexcept {
  if (socket_ == nullptr) return;
  Socket* const socket = std::exchange(socket_, nullptr);
  socket->owner = nullptr;
  uv_close(reinterpret_cast<uv_handle_t*>(&socket->tcp),
           [](uv_handle_t* handle) { delete &SocketOf(handle); });
}

void OutgoingConnections::Connection::Detach() noexcept {
  if (all_ == nullptr) return;
  std::erase(all_->open_, this);
  all_ = nullptr;
  reading_ = false;
  waiting_.clear();
  SayEnd();
  tls_.reset();  // before what it shares with others goes
  CloseSocket();
  if (Lookup* const lookup = std::exchange(lookup_, nullptr)) {
    lookup->owner = nullptr;
    uv_cancel(reinterpret_cast<uv_req_t*>(
        &lookup->request));  // fails if a thread has begun it: then it ends by itself
  }
}

std::unique_ptr<OutgoingConnection> OutgoingConnections::Connect(const std::string& host, uint16_t port,
                                                                 OutgoingConnection::Listener& listener) {
  auto connection = std::make_unique<Connection>(*this, port, listener);
  if (closed_) {
    connection->End(OutgoingConnection::State::kLost);
    return connection;
  }
  if (tls_ != nullptr) connection->UseTls(tls_->NewTransportTo(host));
  connection->Begin(host);
  return connection;
}

void OutgoingConnections::Close() noexcept {
  closed_ = true;
  while (!open_.empty()) open_.back()->End(OutgoingConnection::State::kLost);
}

}  // namespace mayfly::net
