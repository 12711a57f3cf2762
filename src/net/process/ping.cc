#include "net/process/ping.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/text/numbers.h"
#include "config/sources/options.h"
#include "config/words.h"
#include "net/socket/address.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

namespace mayfly::net {

const std::string_view kPingHelp =
    "mayfly --ping [conf-file] [--name value ...]: asks the daemon that these options, and the MAYFLY_ "
    "variables, would\n"
    "start whether it serves. Prints PONG and exits with 0, or prints what is wrong and exits with 1. "
    "Further flags:\n"
    "  --host HOST         another machine; otherwise this one, by the first address of bind\n"
    "  --socket PATH       a unix socket\n"
    "  --tls               by TLS, at tls-port if that is set; without it only if port is 0\n"
    "  --insecure          does not verify the server's certificate\n"
    "  --server-name NAME  the name that its certificate must have, instead of HOST\n"
    "  --user NAME         logs in as this user\n"
    "  --pass-file FILE    the password; otherwise REDISCLI_AUTH or requirepass, as from "
    "MAYFLY_REQUIREPASS_FILE\n"
    "  --any-answer        every answer will do, as NOAUTH without a password, or LOADING: the daemon lives\n"
    "  --wait MS           how long to wait for an answer, 2000\n"
    "The certificate is verified with tls-ca-cert-file or the system's CAs if HOST or NAME is given. The "
    "daemon gets\n"
    "tls-cert-file, if it asks for a certificate.\n";

namespace {

constexpr int kWaitMs = 2000;

struct Call {
  std::string host, socket, server_name, user, pass_file;
  bool tls = false;
  bool insecure = false;
  bool any_answer = false;
  bool help = false;
  int64_t wait_ms = kWaitMs;
  std::vector<std::string> options;  // for config::Options
};

// Takes the flags of --ping out of `words`.
config::Problem ReadCall(std::span<const std::string> words, Call& call) {
  const std::pair<std::string_view, std::string*> texts[] = {{"--host", &call.host},
                                                             {"--socket", &call.socket},
                                                             {"--server-name", &call.server_name},
                                                             {"--user", &call.user},
                                                             {"--pass-file", &call.pass_file}};
  const std::pair<std::string_view, bool*> switches[] = {{"--tls", &call.tls},
                                                         {"--insecure", &call.insecure},
                                                         {"--any-answer", &call.any_answer},
                                                         {"--help", &call.help}};
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string flag = words[i].substr(0, words[i].find('='));
    const bool joined = flag.size() != words[i].size();
    const auto is_flag = [&](const auto& known) { return known.first == flag; };
    const auto* const toggle = std::find_if(std::begin(switches), std::end(switches), is_flag);
    if (toggle != std::end(switches)) {
      if (joined) return flag + " takes no value";
      *toggle->second = true;
      continue;
    }
    const auto* const text = std::find_if(std::begin(texts), std::end(texts), is_flag);
    if (text == std::end(texts) && flag != "--wait") {
      call.options.push_back(words[i]);
      continue;
    }
    if (!joined && i + 1 == words.size()) return flag + " needs a value";
    const std::string value = joined ? words[i].substr(flag.size() + 1) : words[++i];
    if (text != std::end(texts)) {
      *text->second = value;
    } else if (!ParseInteger(value, call.wait_ms) || call.wait_ms < 1 || call.wait_ms > INT32_MAX) {
      return std::string("--wait must be a number of milliseconds");
    }
  }
  return std::nullopt;
}

// ---- one connection

struct FreeSsl {
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
};

std::string SslReason(std::string_view what) {
  const unsigned long error = ERR_get_error();
  const char* const reason = error != 0 ? ERR_reason_error_string(error) : nullptr;
  return std::string(what) + ": " + (reason != nullptr ? reason : "the connection ended");
}

// A blocking socket, for at most `wait_ms` in each step. Owns the descriptor.
class Link {
 public:
  explicit Link(int64_t wait_ms) noexcept : wait_ms_(wait_ms) {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  config::Problem Connect(const sockaddr& address, socklen_t size) {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = socket(address.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    constexpr int64_t kMs = 1000;
    const timeval limit{.tv_sec = wait_ms_ / kMs, .tv_usec = wait_ms_ % kMs * kMs};
    const bool ready = descriptor_ >= 0 &&
                       setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
                       setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0;
    if (ready && connect(descriptor_, &address, size) == 0) return std::nullopt;
    return errno == EINPROGRESS ? Late() : std::string(std::strerror(errno));
  }

  config::Problem StartTls(const config::Settings& settings, const Call& call) {
    context_.reset(SSL_CTX_new(TLS_client_method()));
    if (!context_) return SslReason("TLS");
    const bool named = !call.host.empty() || !call.server_name.empty();
    if (named && !call.insecure) {
      const char* const file =
          settings.tls_ca_cert_file.empty() ? nullptr : settings.tls_ca_cert_file.c_str();
      const char* const folder =
          settings.tls_ca_cert_dir.empty() ? nullptr : settings.tls_ca_cert_dir.c_str();
      const bool loaded = file == nullptr && folder == nullptr
                              ? SSL_CTX_set_default_verify_paths(context_.get()) == 1
                              : SSL_CTX_load_verify_locations(context_.get(), file, folder) == 1;
      if (!loaded) return SslReason("the certificates of CAs");
      SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    }
    if (config::Problem problem = LoadCertificate(settings)) return problem;
    ssl_.reset(SSL_new(context_.get()));
    const std::string& name = call.server_name.empty() ? call.host : call.server_name;
    if (!ssl_ || SSL_set_fd(ssl_.get(), descriptor_) != 1 || (named && !Expect(name)))
      return SslReason("TLS");
    if (SSL_connect(ssl_.get()) == 1) return std::nullopt;
    const long verified = SSL_get_verify_result(ssl_.get());
    if (verified != X509_V_OK && SSL_CTX_get_verify_mode(context_.get()) != SSL_VERIFY_NONE)
      return std::string("the server's certificate: ") + X509_verify_cert_error_string(verified);
    return SslReason("the TLS handshake failed");
  }

  config::Problem Send(std::string_view bytes) {
    const auto sent = ssl_ ? SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()))
                           : static_cast<int>(send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    if (sent == static_cast<int>(bytes.size())) return std::nullopt;
    return ssl_ ? SslReason("cannot send") : "cannot send: " + std::string(std::strerror(errno));
  }

  // Reads the next line of the answer, without the line end.
  config::Problem ReadLine(std::string& line) {
    constexpr size_t kMost = 4096;
    while (true) {
      if (const size_t end = input_.find("\r\n"); end != std::string::npos) {
        line = input_.substr(0, end);
        input_.erase(0, end + 2);
        return std::nullopt;
      }
      if (input_.size() > kMost) return std::string("the answer is none of Redis's protocol");
      std::array<char, 512> room;
      errno = 0;
      const auto got = ssl_ ? SSL_read(ssl_.get(), room.data(), room.size())
                            : static_cast<int>(recv(descriptor_, room.data(), room.size(), 0));
      if (got > 0) {
        input_.append(room.data(), static_cast<size_t>(got));
        continue;
      }
      if (errno == EAGAIN || errno == EWOULDBLOCK) return Late();
      if (ssl_ && ERR_peek_error() != 0) return SslReason("TLS");
      return errno != 0 ? std::string(std::strerror(errno))
                        : std::string("the connection was closed without an answer");
    }
  }

 private:
  std::string Late() const { return "no answer within " + std::to_string(wait_ms_) + " ms"; }

  // The daemon may require a certificate; the daemon's own is accepted.
  config::Problem LoadCertificate(const config::Settings& settings) {
    if (settings.tls_cert_file.empty() || settings.tls_key_file.empty()) return std::nullopt;
    if (access(settings.tls_key_file.c_str(), R_OK) != 0) return std::nullopt;  // without a certificate then
    if (!settings.tls_key_file_pass.empty())
      SSL_CTX_set_default_passwd_cb_userdata(context_.get(),
                                             const_cast<char*>(settings.tls_key_file_pass.c_str()));
    const bool loaded =
        SSL_CTX_use_certificate_chain_file(context_.get(), settings.tls_cert_file.c_str()) == 1 &&
        SSL_CTX_use_PrivateKey_file(context_.get(), settings.tls_key_file.c_str(), SSL_FILETYPE_PEM) == 1;
    return loaded ? std::nullopt : config::Problem(SslReason("tls-cert-file and tls-key-file"));
  }

  bool Expect(const std::string& name) noexcept {
    in6_addr numeric;
    const bool is_address =
        inet_pton(AF_INET, name.c_str(), &numeric) == 1 || inet_pton(AF_INET6, name.c_str(), &numeric) == 1;
    if (is_address) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), name.c_str()) == 1;
    return SSL_set1_host(ssl_.get(), name.c_str()) == 1 &&
           SSL_set_tlsext_host_name(ssl_.get(), name.c_str()) == 1;
  }

  int64_t wait_ms_;
  int descriptor_ = -1;
  std::unique_ptr<SSL_CTX, FreeSsl> context_;
  std::unique_ptr<SSL, FreeSsl> ssl_;
  std::string input_;
};

// ---- where to, and what to say

// The host of this machine's own daemon.
std::string HostOf(const config::Settings& settings) {
  for (const config::BindAddress& address : settings.bind) {
    if (address.host == "*" || address.host == "0.0.0.0") return "127.0.0.1";
    if (address.host == "::*" || address.host == "::") return "::1";
    return address.host;
  }
  return "127.0.0.1";
}

config::Problem ConnectUnix(const std::string& path, Link& link) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::string("the path is too long");
  path.copy(address.sun_path, path.size());
  return link.Connect(reinterpret_cast<const sockaddr&>(address), sizeof address);
}

config::Problem ConnectTcp(const std::string& host, uint16_t port, Link& link) {
  std::string reason;
  config::Problem problem;
  for (const sockaddr_storage& address : ResolveHost(host, port, reason)) {
    const auto size = address.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    problem = link.Connect(reinterpret_cast<const sockaddr&>(address), static_cast<socklen_t>(size));
    if (!problem) return std::nullopt;
  }
  return problem ? problem : config::Problem(reason);
}

std::string RequestOf(std::initializer_list<std::string_view> words) {
  std::string text = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string_view word : words)
    text.append("$" + std::to_string(word.size()) + "\r\n").append(word).append("\r\n");
  return text;
}

config::Problem FindPassword(const Call& call, const config::Settings& settings,
                             std::span<const std::string> environment, const config::Files& files,
                             std::string& password) {
  constexpr std::string_view kVariable = "REDISCLI_AUTH=";
  password = settings.requirepass;
  for (const std::string& variable : environment) {
    if (variable.starts_with(kVariable)) password = variable.substr(kVariable.size());
  }
  if (call.pass_file.empty()) return std::nullopt;
  if (config::Problem problem = files.read(call.pass_file, password)) return problem;
  while (password.ends_with('\n') || password.ends_with('\r')) password.pop_back();
  return password.empty() ? config::Problem(call.pass_file + ": holds no password") : std::nullopt;
}

// Logs in, if there is a password, and sends PING. The problem is the daemon's error.
config::Problem Ask(Link& link, const Call& call, const std::string& password) {
  const bool logs_in = !password.empty() || !call.user.empty();
  const std::string login =
      call.user.empty() ? RequestOf({"AUTH", password}) : RequestOf({"AUTH", call.user, password});
  if (config::Problem problem = link.Send((logs_in ? login : std::string()) + RequestOf({"PING"})))
    return problem;
  std::string line;
  for (int answers = logs_in ? 2 : 1; answers > 0; --answers) {
    if (config::Problem problem = link.ReadLine(line)) return problem;
    const bool is_reply = line.starts_with('+') || line.starts_with('-');
    if (is_reply && call.any_answer) return std::nullopt;
    if (line.starts_with('-')) return line.substr(1);
  }
  if (line == "+PONG") return std::nullopt;
  return "the answer is '" + config::Printable(line) + "' and not PONG";
}

config::Problem Ping(const Call& call, const config::Settings& settings, const std::string& password) {
  const bool tls = call.tls || settings.port == 0;
  const int64_t port = tls && settings.tls_port != 0 ? settings.tls_port : settings.port;
  std::string path = call.socket;
  if (path.empty() && call.host.empty() && (port == 0 || settings.bind.empty())) path = settings.unixsocket;
  if (path.empty() && port == 0) return std::string("there is no port: port and tls-port are 0");
  const std::string host = call.host.empty() ? HostOf(settings) : call.host;
  const std::string place = path.empty() ? host + ", port " + std::to_string(port) : path;
  Link link(call.wait_ms);
  config::Problem problem =
      path.empty() ? ConnectTcp(host, static_cast<uint16_t>(port), link) : ConnectUnix(path, link);
  if (!problem && tls && path.empty()) problem = link.StartTls(settings, call);
  if (!problem) problem = Ask(link, call, password);
  return problem ? config::Problem(config::Printable(place) + ": " + *problem) : std::nullopt;
}

}  // namespace

bool AsksForPing(std::span<const std::string> words) noexcept {
  return !words.empty() && words[0] == "--ping";
}

int RunPing(std::span<const std::string> words, std::span<const std::string> environment,
            const config::Files& files) {
  std::signal(SIGPIPE, SIG_IGN);
  Call call;
  config::Problem problem = ReadCall(words, call);
  if (!problem && call.help) {
    std::fputs(std::string(kPingHelp).c_str(), stdout);
    return 0;
  }
  config::Options options(0, files);
  if (!problem) problem = options.Load(call.options, environment).error;
  std::string password;
  if (!problem) problem = FindPassword(call, options.settings(), environment, files, password);
  if (!problem) problem = Ping(call, options.settings(), password);
  if (problem) {
    std::fprintf(stderr, "mayfly: %s\n", problem->c_str());
    return 1;
  }
  std::fputs("PONG\n", stdout);
  return 0;
}

}  // namespace mayfly::net
