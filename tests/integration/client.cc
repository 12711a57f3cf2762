#include "integration/client.h"

#include <memory>
#include <stdexcept>
#include <utility>

#include <hiredis/hiredis.h>

#include <sys/time.h>

namespace mayfly {
namespace {

std::string Show(const redisReply& reply) {
  const std::string text(reply.str != nullptr ? reply.str : "", reply.len);
  switch (reply.type) {
    case REDIS_REPLY_INTEGER:
      return ':' + std::to_string(reply.integer);
    case REDIS_REPLY_NIL:
      return "(nil)";
    case REDIS_REPLY_ERROR:
      return '-' + text;
    case REDIS_REPLY_ARRAY: {
      std::string shown = "[";
      for (size_t i = 0; i < reply.elements; ++i) shown += (i != 0 ? " " : "") + Show(*reply.element[i]);
      return shown + ']';
    }
    default:
      return text;
  }
}

redisContext* Checked(redisContext* context) {
  if (context == nullptr || context->err != 0) {
    const std::string why = context != nullptr ? context->errstr : "no memory";
    if (context != nullptr) redisFree(context);
    throw std::runtime_error("cannot connect: " + why);
  }
  redisSetTimeout(context, timeval{.tv_sec = kPatienceMs / 1000, .tv_usec = 0});
  return context;
}

}  // namespace

Client::Client(redisContext* context) : context_(Checked(context)) {}
Client::Client(const Daemon& daemon) : Client(redisConnect("127.0.0.1", daemon.port())) {}
Client Client::ToPort(uint16_t port) { return Client(redisConnect("127.0.0.1", port)); }
Client Client::OverUnixSocket(const Daemon& daemon) {
  return Client(redisConnectUnix(daemon.unix_socket().c_str()));
}
Client::Client(Client&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
Client::~Client() {
  if (context_ != nullptr) redisFree(context_);
}

void Client::Queue(const std::vector<std::string>& words) {
  std::vector<const char*> starts;
  std::vector<size_t> sizes;
  for (const std::string& word : words) {
    starts.push_back(word.data());
    sizes.push_back(word.size());
  }
  redisAppendCommandArgv(context_, static_cast<int>(words.size()), starts.data(), sizes.data());
}

std::string Client::Next() {
  void* raw = nullptr;
  if (redisGetReply(context_, &raw) != REDIS_OK) return "(gone)";
  const std::unique_ptr<redisReply, void (*)(void*)> reply(static_cast<redisReply*>(raw), freeReplyObject);
  return Show(*reply);
}

std::string Client::Run(const std::vector<std::string>& words) {
  Queue(words);
  return Next();
}

std::string Client::Info(const std::string& field) {
  const std::string text = "\n" + Run({"INFO", "everything"});
  const size_t at = text.find('\n' + field + ':');
  if (at == std::string::npos) return "(no such field)";
  const size_t begin = at + field.size() + 2;
  return text.substr(begin, text.find('\r', begin) - begin);
}

int64_t Client::InfoNumber(const std::string& field) { return std::stoll(Info(field)); }

}  // namespace mayfly
