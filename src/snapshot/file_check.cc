#include "snapshot/file_check.h"

#include <cstdint>

#include "base/bits/hash.h"
#include "base/memory/heap.h"
#include "config/words.h"
#include "snapshot/disk/file_reader.h"
#include "snapshot/record_reader.h"

namespace mayfly {
namespace {

// A hostile file may have millions of fields.
constexpr size_t kMostFields = 100;
constexpr size_t kMostShown = 200;  // bytes of a field's value

class Census final : public RecordSink {
 public:
  explicit Census(const std::function<void(const std::string&)>& print) : print_(print) {}

  void TakeVersion(unsigned version, bool valkey) override {
    known_ = true;
    print_("version: " + std::to_string(version) + (valkey ? " of Valkey" : ""));
  }
  bool TakeField(std::string_view name, std::string_view value) override {
    if (++fields_ > kMostFields) return true;
    print_("field " + config::Printable(name) + ": " +
           (value.size() <= kMostShown ? config::Printable(value) : std::to_string(value.size()) + " bytes"));
    return true;
  }
  void TakeModuleRecord() override { ++extras_; }
  bool ReadyFor(uint64_t, Now, size_t&) override { return true; }
  void TakeFunction(std::string_view) override { ++libraries_; }
  MemberHome HomeOf(uint64_t) noexcept override { return {heap_, hasher_}; }
  Answer TakeKey(const FileKey& key, ReadValue value, Now now) override {
    ++keys_;
    if (key.deadline_unix_ms) ++with_deadline_;
    const bool over = key.deadline_unix_ms && *key.deadline_unix_ms <= now.wall_ms && !key.terms.IsTask();
    if (over || value.status == rdb::ValueStatus::kExpired) ++expired_;
    if (value.status == rdb::ValueStatus::kEmpty) ++skipped_;
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

 private:
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
  if (problem.empty()) print(records.summed() ? "checksum: OK" : "checksum: none in the file");
  return problem;
}

}  // namespace mayfly
