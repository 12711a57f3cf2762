// Random changes of databases with namespaces, against a map.
#include <map>
#include <string>
#include <utility>

#include "cache/keyspace/sampling.h"
#include "support/catch.h"
#include "unit/cache/namespace_fixture.h"

namespace mayfly {
namespace {

struct Known {
  std::string space;  // its namespace; empty: none
  std::string value;
  Expiry expiry;
};

class Model : public NamespaceFixture {
 public:
  using Place = std::pair<unsigned, std::string>;

  size_t Below(size_t count) { return random() % count; }
  std::string AnyKey() {
    static const char* const kPrefixes[] = {"a:", "a:b:", "c:", "", "d"};
    return kPrefixes[Below(5)] + std::to_string(Below(30));
  }
  unsigned AnyDb() { return static_cast<unsigned>(Below(4)); }
  Expiry AnyExpiry() { return Below(2) == 0 ? Expiry::Never() : In(1 + Below(500)); }
  std::string AnyValue() { return std::string(Below(20) == 0 ? 20'000 : Below(200), 'v'); }
  std::string SpaceOf(const std::string& key) {
    const Namespace* const space = databases.namespaces().Of(key);
    return space != nullptr ? space->name() : "";
  }
  void ForgetExpired() {
    std::erase_if(known, [&](const auto& one) { return one.second.expiry.Reached(now()); });
  }
  void Remember(const Place& place, const std::string& value, Expiry expiry) {
    const auto found = known.find(place);
    const std::string space = found != known.end() ? found->second.space : SpaceOf(place.second);
    known[place] = {space, value, expiry};
  }

  void SetAny() {
    const Place place{AnyDb(), AnyKey()};
    const std::string value = AnyValue();
    const Expiry expiry = AnyExpiry();
    Set(place.second, value, expiry, place.first);
    Remember(place, value, expiry);
  }
  void PutMany() {
    const unsigned index = AnyDb();
    std::vector<std::string> names;
    for (size_t left = 1 + Below(5); left != 0; --left) names.push_back(AnyKey());
    std::vector<KeyPut> puts;
    for (const std::string& name : names)
      puts.push_back({db(index).KeyOf(name), StringValue::Of("together")});
    const Expiry expiry = AnyExpiry();
    db(index).PutAll(puts, false, expiry, now());
    for (const std::string& name : names) Remember({index, name}, "together", expiry);
  }
  void MoveAny() {
    const Place from{AnyDb(), AnyKey()};
    const Place to{AnyDb(), AnyKey()};
    Entry* const entry = db(from.first).Peek(db(from.first).KeyOf(from.second), now());
    if (entry == nullptr || from == to) return;
    const Key target = db(to.first).KeyOf(to.second);
    db(from.first)
        .Move(db(from.first).KeyOf(from.second), *entry, db(to.first), target,
              db(to.first).Peek(target, now()), now());
    const Known moved = known.at(from);
    known.erase(from);
    Remember(to, moved.value, moved.expiry);
  }
  void FlushSpace() {
    const std::string name = Below(2) == 0 ? "a" : "c";
    Namespace* const space = databases.namespaces().Find(name);
    if (space == nullptr) return;
    databases.FlushNamespace(*space);
    std::erase_if(known, [&](const auto& one) { return one.second.space == name; });
  }
  void FlushOrSwap() {
    const unsigned a = AnyDb();
    if (Below(2) == 0) {
      databases.Flush(a, now());
      std::erase_if(known, [&](const auto& one) { return one.first.first == a; });
      return;
    }
    const unsigned b = AnyDb();
    databases.Swap(a, b);
    std::map<Place, Known> swapped;
    for (auto& [place, one] : known)
      swapped[{place.first == a ? b : place.first == b ? a : place.first, place.second}] = one;
    known = std::move(swapped);
  }
  // "d" comes and goes; its keys keep the name while they live, unless it is revived.
  void Rename() {
    std::vector<Namespaces::Wanted> wanted = {{"a", "a:"}, {"ab", "a:b:"}, {"c", "c:"}};
    if (Below(2) == 0) wanted.push_back({"d", "d"});
    Have(wanted);
  }
  void EvictAny() {
    const auto list = Below(2) == 0 ? Quota::kLasting : Quota::kExpiring;
    const unsigned index = AnyDb();
    Entry* const victim = Sampling(db(index)).RandomOf(list, random);
    if (victim == nullptr) return;
    const Place place{index, std::string(victim->key())};
    db(index).Evict(*victim, now());
    known.erase(place);
  }
  void Check() {
    std::map<std::string, size_t> keys;
    std::map<unsigned, size_t> sizes;
    size_t found = 0;
    ForgetExpired();
    Settle();
    for (const auto& [place, one] : known) {
      ++keys[one.space];
      ++sizes[place.first];
      const Entry* const entry = db(place.first).LookAt(place.second, now());
      found += entry != nullptr && entry->TextLength() == one.value.size();
    }
    REQUIRE(found == known.size());
    REQUIRE(databases.total_keys() == known.size());
    for (unsigned i = 0; i < 4; ++i) REQUIRE(db(i).size() == sizes[i]);
    for (const auto& space : databases.namespaces().active()) REQUIRE(space->keys() == keys[space->name()]);
    REQUIRE(Valid());
  }

  std::map<Place, Known> known;
};

}  // namespace

TEST_CASE_METHOD(Model, "keys, databases and namespaces come and go, and every key is where a map has it") {
  Rename();
  for (int step = 0; step < 30'000; ++step) {
    if (Below(4) == 0) clock.AdvanceTime(Below(30));
    ForgetExpired();
    switch (Below(24)) {
      case 0:
        PutMany();
        break;
      case 1:
      case 2:
        MoveAny();
        break;
      case 3:
        if (Below(20) == 0) FlushSpace();
        break;
      case 4:
        if (Below(60) == 0) FlushOrSwap();
        break;
      case 5:
        if (Below(20) == 0) Rename();
        break;
      case 6:
        databases.FreeSome(Below(20));
        break;
      case 7:
        EvictAny();
        break;
      case 8:
      case 9: {
        const Place place{AnyDb(), AnyKey()};
        REQUIRE(db(place.first).Delete(db(place.first).KeyOf(place.second), now()) ==
                (known.erase(place) != 0));
        break;
      }
      default:
        SetAny();
        break;
    }
    if (step % 100 == 0) Check();
  }
  databases.FlushAll(now());
  FreeAll();
  CHECK(databases.waiting_bytes() == 0);
}

}  // namespace mayfly
