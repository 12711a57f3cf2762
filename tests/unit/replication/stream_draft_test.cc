#include "replication/stream_draft.h"

#include <string>
#include <string_view>

#include "support/catch.h"
#include "support/output_text.h"

namespace mayfly {
namespace {

struct DraftWorld {
  DraftWorld() { backlog.Begin(0); }

  void Add(std::string_view word) {
    const std::string_view words[] = {word};
    draft.Append(words);
  }
  std::string Stream() {
    std::string text;
    for (int64_t place = 0; place < backlog.end();) {
      OutputChain out(chunks);
      place += static_cast<int64_t>(backlog.Feed(place, SIZE_MAX, out));
      text += OutputText(out);
    }
    return text;
  }

  ChunkPool chunks;
  Backlog backlog;
  StreamDraft draft{backlog};
};

std::string Command(const std::string& word) {
  return "*1\r\n$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
}

}  // namespace

TEST_CASE("a draft counts when it is published, and not before") {
  DraftWorld w;
  w.Add("one");
  CHECK(w.backlog.end() == 0);
  w.draft.Publish(/*transaction=*/false);
  CHECK(w.Stream() == Command("one"));
  CHECK(w.draft.size() == 0);
  w.Add("two");
  w.draft.Drop();
  w.Add("three");
  w.draft.Publish(/*transaction=*/false);
  CHECK(w.Stream() == Command("one") + Command("three"));
}

TEST_CASE("several commands of a draft stand behind MULTI, and so does what follows an empty draft") {
  DraftWorld w;
  w.Add("one");
  w.Add("two");
  w.draft.Publish(/*transaction=*/true);
  CHECK(w.Stream() == Command("MULTI") + Command("one") + Command("two"));
  w.draft.Publish(/*transaction=*/true);
  w.draft.Publish(/*transaction=*/false);
  CHECK(w.Stream() == Command("MULTI") + Command("one") + Command("two") + Command("MULTI"));
}

TEST_CASE("the end of a draft can be dropped") {
  DraftWorld w;
  w.Add("one");
  const size_t size = w.draft.size();
  w.Add("two");
  w.draft.CutTo(size);
  w.Add("three");
  w.draft.Publish(/*transaction=*/true);
  CHECK(w.Stream() == Command("MULTI") + Command("one") + Command("three"));
}

TEST_CASE("a long draft takes little more memory than its commands, published or dropped") {
  DraftWorld w;
  const bool keeps = GENERATE(true, false);
  std::string expected;
  for (int turn = 0; turn < 20; ++turn) {
    if (keeps) expected += Command("MULTI");
    for (int i = 0; i < 2000; ++i) {
      const std::string word(700, static_cast<char>('a' + turn));
      w.Add(word);
      if (keeps) expected += Command(word);
    }
    CHECK(w.draft.size() > 2000 * 700);
    keeps ? w.draft.Publish(/*transaction=*/true) : w.draft.Drop();
    CHECK(w.backlog.end() == static_cast<int64_t>(expected.size()));
    CHECK(w.backlog.bytes() <= expected.size() + expected.size() / 16 + 2 * Backlog::kBlockBytes);
  }
  CHECK(w.Stream() == expected);
  w.Add("last");
  w.draft.Publish(/*transaction=*/false);
  CHECK(w.Stream() == expected + Command("last"));
}

TEST_CASE("only the commands before count while a long draft is written") {
  DraftWorld w;
  w.Add("one");
  w.draft.Publish(/*transaction=*/false);
  for (int i = 0; i < 2000; ++i) w.Add(std::string(700, 'x'));
  CHECK(w.backlog.end() == static_cast<int64_t>(Command("one").size()));
  CHECK(w.Stream() == Command("one"));
}

TEST_CASE("a command that replaces a shorter one at the end of a full block is the only one") {
  DraftWorld w;
  std::string expected;
  for (size_t length = 1; length < 200'000; length = length * 3 / 2 + 1) {
    w.Add("select");
    const size_t size = w.draft.size();
    w.Add(std::string(length / 2, 'x'));
    w.draft.CutTo(size);
    w.Add(std::string(length, 'y'));
    w.draft.Publish(/*transaction=*/false);
    expected += Command("select") + Command(std::string(length, 'y'));
    REQUIRE(w.Stream() == expected);
  }
}

TEST_CASE("a draft that fills its block goes on in another one, with all its commands") {
  DraftWorld w;
  std::string expected;
  for (int turn = 0; turn < 20; ++turn) {
    expected += Command("MULTI");
    for (int i = 0; i < 100 * turn; ++i) {
      const std::string word = std::to_string(turn) + std::string(static_cast<size_t>(i % 300), 'x');
      w.Add(word);
      expected += Command(word);
    }
    w.draft.Publish(/*transaction=*/true);
    CHECK(w.Stream() == expected);
  }
  const std::string longest(3 * Backlog::kBlockBytes, 'y');
  w.Add("before");
  w.Add(longest);
  w.draft.Publish(/*transaction=*/true);
  CHECK(w.Stream() == expected + Command("MULTI") + Command("before") + Command(longest));
}

}  // namespace mayfly
