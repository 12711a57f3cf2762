// activedefrag: when entries are moved out of memory that is mostly unused, and for how long at a time.
#include <string>

#include "exec/memory/defragmenter.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

class DefragTest : public CommandTest {
 public:
  DefragTest() { Run({"CONFIG", "SET", "active-defrag-ignore-bytes", "1", "maxmemory", "0"}); }

  Now now() { return server().clock.Read(); }
  // Many keys, of which most go again.
  void MakeHoles() {
    const std::string value(600, 'v');
    for (size_t i = 0; i < kKeys; ++i) Run({"SET", "key:" + std::to_string(i), value});
    for (size_t i = 0; i < kKeys; ++i) {
      if (i % 5 != 0) Run({"DEL", "key:" + std::to_string(i)});
    }
    server().databases.heap().FlushCaches();
  }
  // Time passes until it has something to do, which it does. False if it rests.
  bool GoOn() {
    if (defragmenter.NextWake() == Defragmenter::kNever) return false;
    if (defragmenter.NextWake() > now().mono_ms)
      AdvanceTime(defragmenter.NextWake() - now().mono_ms);  // and every alarm is rung
    else
      defragmenter.OnWake(now(), nullptr);
    return true;
  }
  // As the loop's turns do it.
  void Slice() {
    if (server().sliced_work.waits())
      server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, kEntriesAtOnce);
  }
  void Finish() {
    while (defragmenter.moves()) {
      if (server().sliced_work.waits())
        Slice();
      else
        REQUIRE(GoOn());
    }
  }
  std::string Info(const std::string& field) {
    const std::string text = Run({"INFO", "everything"}).text;
    const size_t at = text.find("\n" + field + ":");
    REQUIRE(at != std::string::npos);
    const size_t begin = at + field.size() + 2;
    return text.substr(begin, text.find('\r', begin) - begin);
  }

  static constexpr size_t kKeys = 4000;
  static constexpr size_t kEntriesAtOnce = 16;
  Defragmenter defragmenter{server().server};
};

TEST_CASE_METHOD(DefragTest,
                 "a second after much was freed, keys begin to move, in slices with pauses between them") {
  MakeHoles();
  defragmenter.NoteChurn(now());
  CHECK(defragmenter.NextWake() == now().mono_ms + Defragmenter::kLookMs);
  REQUIRE(GoOn());
  CHECK(defragmenter.moves());
  CHECK(Info("active_defrag_running") == "25");
  CHECK(Info("active_defrag_hits") == "0");

  REQUIRE(GoOn());
  Slice();
  const uint64_t looked = stats().defrag_moved + stats().defrag_left;
  CHECK(looked > 0);
  CHECK(looked < kKeys / 5);
  Finish();
  CHECK_FALSE(defragmenter.moves());
  CHECK(stats().defrag_moved > 0);
  CHECK(Info("active_defrag_running") == "0");
  CHECK(Run({"DBSIZE"}) == Integer(kKeys / 5));
}

TEST_CASE_METHOD(DefragTest, "without activedefrag, or if little is unused, nothing moves") {
  MakeHoles();
  const std::string option =
      GENERATE("activedefrag", "active-defrag-ignore-bytes", "active-defrag-threshold-lower");
  Run({"CONFIG", "SET", option,
       option == "activedefrag"    ? "no"
       : option.ends_with("bytes") ? "1gb"
                                   : "1000"});
  defragmenter.NoteChurn(now());
  REQUIRE(GoOn());
  CHECK_FALSE(defragmenter.moves());
  CHECK(defragmenter.NextWake() == Defragmenter::kNever);
  CHECK(stats().defrag_moved == 0);
}

TEST_CASE_METHOD(DefragTest,
                 "an option that changes is followed: while keys move, and while nothing happens") {
  MakeHoles();
  Run({"CONFIG", "SET", "activedefrag", "yes"});
  REQUIRE(GoOn());
  REQUIRE(defragmenter.moves());
  Run({"CONFIG", "SET", "activedefrag", "no"});
  REQUIRE(GoOn());
  Slice();
  CHECK_FALSE(defragmenter.moves());
  CHECK(stats().defrag_moved == 0);
}

TEST_CASE_METHOD(DefragTest, "counts of moved keys are reset with the others") {
  MakeHoles();
  defragmenter.NoteChurn(now());
  REQUIRE(GoOn());
  Finish();
  REQUIRE(stats().defrag_moved > 0);
  Run({"CONFIG", "RESETSTAT"});
  CHECK(Info("active_defrag_hits") == "0");
  CHECK(Info("total_active_defrag_time") == "0");
}

}  // namespace
}  // namespace mayfly::testing
