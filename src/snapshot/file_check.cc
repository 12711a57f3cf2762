#include "snapshot/file_check.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/bits/hash.h"
#include "base/memory/heap.h"
#include "config/words.h"
#include "snapshot/disk/file_reader.h"
#include "snapshot/event_fields.h"
#include "snapshot/record_reader.h"

namespace mayfly {
namespace {

// A hostile file may have millions of fields.
constexpr size_t kMostFields = 100;
constexpr size_t kMostShown = 200;  // bytes of a field's value

// The hashes of keys, in a table with open addressing: 16 bytes for each. Two of a billion keys may have the same hash by chance
// with a probability of 3 %.
class KeySet {
 public:
  // Returns false if the hash is there already. Throws std::bad_alloc.
  bool Add(uint64_t hash) {
    if ((count_ + 1) * 2 > places_.size()) Grow();
    uint64_t& place = PlaceOf(places_, hash | kUsed);
    if (place != 0) return false;
    place = hash | kUsed;
    ++count_;
    return true;
  }

 private:
  static constexpr uint64_t kUsed = 1;
  static constexpr size_t kFewest = 1024;

  static uint64_t& PlaceOf(std::vector<uint64_t>& places, uint64_t hash) noexcept {
    size_t at = (hash >> 1) & (places.size() - 1);
    while (places[at] != 0 && places[at] != hash) at = (at + 1) & (places.size() - 1);
    return places[at];
  }
  void Grow() {
    std::vector<uint64_t> places(std::max(kFewest, places_.size() * 2));
    for (const uint64_t hash : places_) {
      if (hash != 0) PlaceOf(places, hash) = hash;
    }
    places_ = std::move(places);
  }

  std::vector<uint64_t> places_;  // a power of two
  size_t count_ = 0;
};

class Census final : public RecordSink {
 public:
  explicit Census(const std::function<void(const std::string&)>& print) : print_(print) {}

  void TakeVersion(unsigned version, bool valkey) override {
    known_ = true;
    print_("version: " + std::to_string(version) + (valkey ? " of Valkey" : ""));
  }
  void TakeField(std::string_view name, std::string_view value) override {
    if (++fields_ > kMostFields) return;
    print_("field " + config::Printable(name) + ": " +
           (value.size() <= kMostShown ? config::Printable(value) : std::to_string(value.size()) + " bytes"));
  }
  bool TakeEvents(std::string_view name, std::string_view value) override {
    return CanReadEventField(name, value);
  }
  void TakeLostField(std::string_view name) override {
    if (++lost_fields_ <= kMostFields) TellOfLoss("field " + std::string(name));
  }
  void TakeModuleRecord() override { ++extras_; }
  void TakeRefused(std::string_view what) override {
    if (++refused_ <= kMostFields) TellOfLoss(std::string(what));
  }
  bool ReadyFor(uint64_t, Now, size_t&) override { return true; }
  void TakeFunction(std::string_view) override { ++libraries_; }
  MemberHome HomeOf(uint64_t) noexcept override { return {heap_, hasher_}; }
  Answer TakeKey(const FileKey& key, ReadValue value, Now now) override {
    ++keys_;
    if (key.deadline_unix_ms) ++with_deadline_;
    const bool over = key.deadline_unix_ms && *key.deadline_unix_ms <= now.wall_ms && !key.terms.IsTask();
    if (over || value.status == rdb::ValueStatus::kExpired) ++expired_;
    if (value.status == rdb::ValueStatus::kEmpty) ++skipped_;
    if (value.of_module) TakeRefused(NameOf(key) + ": a value of a module");
    constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
    if (!names_.Add(hasher_(key.name) ^ (key.database * kOdd)) && ++doubled_ <= kMostFields)
      print_("there twice: " + NameOf(key));
    if (!key.left_out.empty() && ++lacking_ <= kMostFields) TellOfLoss(NameOf(key) + ": " + key.left_out);
    return Answer::kNext;
  }
  void Drop(std::unique_ptr<RichValue>) noexcept override {}

  // Prints nothing if the file's version is unknown.
  void Report() const {
    if (!known_) return;
    const auto count = [this](std::string_view what, uint64_t number) {
      print_(std::string(what) + ": " + std::to_string(number));
    };
    if (fields_ > kMostFields) count("fields that are not shown", fields_ - kMostFields);
    count("keys", keys_);
    count("keys with a deadline", with_deadline_);
    count("keys that have expired already", expired_);
    count("libraries of functions", libraries_);
    if (skipped_ != 0) count("keys that a load skips, of modules or without members", skipped_);
    if (extras_ != 0) count("records of modules that a load skips", extras_);
  }
  // What is wrong with a file that could be read to its end; "" if nothing is.
  std::string Problem() const {
    std::string problem;
    const auto add = [&problem](uint64_t number, std::string_view what) {
      if (number == 0) return;
      problem.append(problem.empty() ? "has " : ", ").append(std::to_string(number)).append(what);
    };
    add(doubled_, " keys twice");
    add(refused_, " keys that a load leaves out");
    add(lacking_, " keys of which a load leaves something out");
    add(lost_fields_, " fields that a load leaves out");
    add(extras_, " records of modules that a load leaves out");
    return problem;
  }

 private:
  static std::string NameOf(const FileKey& key) {
    return "key " + config::Printable(key.name) + " of database " + std::to_string(key.database);
  }
  void TellOfLoss(const std::string& what) const { print_("left out by a load: " + what); }

  const std::function<void(const std::string&)>& print_;
  Heap heap_;
  Hasher hasher_;
  bool known_ = false;
  size_t fields_ = 0;
  uint64_t keys_ = 0;
  uint64_t with_deadline_ = 0;
  uint64_t expired_ = 0;
  uint64_t libraries_ = 0;
  uint64_t skipped_ = 0;
  uint64_t extras_ = 0;
  uint64_t refused_ = 0;
  uint64_t doubled_ = 0;
  KeySet names_;
  uint64_t lacking_ = 0;
  uint64_t lost_fields_ = 0;
};

}  // namespace

std::string CheckSnapshotFile(Disk& disk, const std::string& path, Now now,
                              const std::function<void(const std::string&)>& print) {
  std::string problem;
  FileReader file(disk, path, [] {}, problem);
  if (!problem.empty()) return problem;
  Census census(print);
  RecordReader records(file, path, census, rdb::ValueLimits(), {});
  RecordReader::Status status = RecordReader::Status::kSpent;
  while (status == RecordReader::Status::kSpent || status == RecordReader::Status::kMore) {
    if (status == RecordReader::Status::kMore) file.Wait();
    status = records.Some(now, UINT32_MAX);
  }
  problem = records.TakeProblem();
  census.Report();
  if (!problem.empty()) return problem;
  print(records.summed() ? "checksum: OK" : "checksum: none in the file");
  const std::string wrong = census.Problem();
  return wrong.empty() ? "" : path + ' ' + wrong;
}

}  // namespace mayfly
