// Libuv's lookups of names: a name has the addresses that World::SetHost says, and any other name is unknown at once.
#include <cstring>

#include "sim/uv_state.h"

#include <arpa/inet.h>
#include <sys/un.h>

namespace mayfly::sim {
namespace {

// One address of an answer; `info` comes first, so that a pointer to it is one to the node.
struct Node {
  addrinfo info;
  sockaddr_storage address;
};

Node* NewNode(const std::string& text) {
  auto node = std::make_unique<Node>();
  auto& four = reinterpret_cast<sockaddr_in&>(node->address);
  auto& six = reinterpret_cast<sockaddr_in6&>(node->address);
  node->info.ai_addr = reinterpret_cast<sockaddr*>(&node->address);
  if (inet_pton(AF_INET, text.c_str(), &four.sin_addr) == 1) {
    node->info.ai_addrlen = sizeof four;
    node->info.ai_family = four.sin_family = AF_INET;
  } else if (inet_pton(AF_INET6, text.c_str(), &six.sin6_addr) == 1) {
    node->info.ai_addrlen = sizeof six;
    node->info.ai_family = six.sin6_family = AF_INET6;
  } else {
    node->info.ai_addrlen = sizeof(sockaddr_un);
    node->info.ai_family = AF_UNIX;
  }
  return node.release();
}

addrinfo* ListOf(const std::vector<std::string>& addresses) {
  addrinfo* first = nullptr;
  for (auto at = addresses.rbegin(); at != addresses.rend(); ++at) {
    Node* const node = NewNode(*at);
    node->info.ai_next = first;
    first = &node->info;
  }
  return first;
}

}  // namespace

bool AnyLookupReady(const LoopState& state) noexcept {
  for (const auto& lookup : state.lookups) {
    if (lookup->ready) return true;
  }
  return false;
}

void RunLookups(LoopState& state) {
  const std::list<std::shared_ptr<Lookup>> all = state.lookups;
  for (const std::shared_ptr<Lookup>& lookup : all) {
    if (!lookup->ready) continue;
    state.lookups.remove(lookup);
    addrinfo* const found = lookup->status == 0 ? ListOf(lookup->addresses) : nullptr;
    lookup->done(lookup->request, lookup->status, found);
  }
}

}  // namespace mayfly::sim

using namespace mayfly::sim;

extern "C" {

int uv_getaddrinfo(uv_loop_t* loop, uv_getaddrinfo_t* request, uv_getaddrinfo_cb done, const char* name,
                   const char*, const addrinfo*) {
  World& world = World::Current();
  const World::Host* const host = world.FindHost(name);
  if (host == nullptr) return UV_EAI_NONAME;
  request->loop = loop;
  const auto lookup = std::make_shared<Lookup>();
  lookup->request = request;
  lookup->done = done;
  lookup->addresses = host->addresses;
  if (host->addresses.empty()) lookup->status = UV_EAI_NONAME;
  StateOf(loop).lookups.push_back(lookup);
  world.At(world.now_ns() + host->lookup_ms * World::kNsPerMs, [lookup] { lookup->ready = true; });
  return 0;
}

void uv_freeaddrinfo(addrinfo* list) {
  while (list != nullptr) {
    addrinfo* const next = list->ai_next;
    delete reinterpret_cast<Node*>(list);
    list = next;
  }
}

// Only lookups are cancelled. The callback comes in a later turn, as in libuv; a lookup that is done, or that a thread has
// begun (World::set_begins_lookups), is not cancelled.
int uv_cancel(uv_req_t* request) {
  LoopState& state = StateOf(reinterpret_cast<uv_getaddrinfo_t*>(request)->loop);
  for (const auto& lookup : state.lookups) {
    if (reinterpret_cast<uv_req_t*>(lookup->request) != request || lookup->ready) continue;
    if (World::Current().begins_lookups()) return UV_EBUSY;
    lookup->status = UV_ECANCELED;
    lookup->ready = true;
    return 0;
  }
  return UV_EBUSY;
}
}
