#include "crossings/crossing.h"

#include <sstream>

namespace mayfly::testing::crossings {
namespace {

// 0 for a field that INFO leaves out while its option is off.
int64_t FieldOfInfo(SnapshotTest& world, const std::string& field) {
  const std::string info = world.Run({"INFO", "everything"}).text;
  const size_t at = info.find("\n" + field + ":");
  return at == std::string::npos ? 0 : std::stoll(info.substr(at + field.size() + 2));
}

}  // namespace

Reply Crossing::Write(const Words& request) {
  Reply reply = Send(request);
  Carry();
  return reply;
}

Reply Crossing::Make(const Words& request) {
  Reply reply = Write(request);
  if (reply.kind == Reply::Kind::kError && !refuses) Compare(request, reply, Ok());
  return reply;
}

std::string Crossing::Lease(const std::string& key) {
  if (refuses) return "";
  const Reply reply = Make({"TAKE", key, "LEASE", "600000"});
  return reply.elements.size() == 4 ? reply.elements[2].text : "";
}

void Crossing::ExpectDeadline(std::string_view key, int64_t ms) {
  Expect({"PEXPIRETIME", std::string(key)}, Integer(ms < 0 ? -1 : made_ms_ + ms));
}

void Crossing::ExpectKeys(const Words& keys, int64_t present) {
  Words request{"EXISTS"};
  request.insert(request.end(), keys.begin(), keys.end());
  Expect(request, Integer(present));
}

int64_t Crossing::Counter(const std::string& field) { return FieldOfInfo(writer(), field); }

void Crossing::NoteCounters() {
  for (const char* field :
       {"expired_keys", "evicted_keys", "invalidated_keys", "tasks_delivered", "keyspace_misses_expired",
        "keyspace_misses_invalidated", "stale_served", "hits_at_twice_the_memory"})
    counted_[field] = Counter(field);
}

void Crossing::ExpectCounted(const std::string& field, int64_t count) {
  const int64_t counted = Counter(field) - counted_.at(field);
  Check(counted == count, field + " has counted " + std::to_string(counted) +
                              " since the keys arrived, not " + std::to_string(count));
}

void Crossing::SetOptions(const std::vector<Words>& options) {
  for (SnapshotTest* world : worlds()) {
    for (const Words& option : options) world->SetOption(option.at(0), option.at(1));
  }
}

Reply Crossing::Look(SnapshotTest& world, const Words& request) {
  TestClient*& reader = readers_[&world];
  if (reader == nullptr) {
    reader = &world.Connect();
    REQUIRE(reader->Run({"CLIENT", "NO-TOUCH", "ON"}) == Ok());
  }
  return reader->Run(request);
}

uint64_t Crossing::Until(int64_t ms) {
  const int64_t to_go = made_ms_ + ms - writer().WallMs();
  if (to_go < 0) faults.push_back("the crossing took longer than " + std::to_string(ms) + " ms");
  return to_go < 0 ? 0 : static_cast<uint64_t>(to_go);
}

void Crossing::Compare(const Words& request, const Reply& reply, const Reply& expected) {
  if (reply == expected) return;
  std::ostringstream text;
  for (const std::string& word : request) text << word << ' ';
  text << "answers " << reply << ", not " << expected;
  faults.push_back(text.str());
}

}  // namespace mayfly::testing::crossings
