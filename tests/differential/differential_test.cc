// The same requests to a real redis-server and to Mayfly: the replies must be the same, byte for byte, in
// both protocols. The requests are drawn from the rows of the command table themselves, so that a command
// that is added is compared from then on; every row and every option word must have been seen often enough in
// valid and in invalid form. normalisers.cc and gaps.cc say what is compared otherwise, and why.
//
// What differs between 7.0 and the version that Mayfly follows is compared with a redis-server of version 8, if there is one
// (GapKind::kNewer).
//
// MAYFLY_DIFF_COMMANDS sets how many requests are sent, MAYFLY_DIFF_SEED which. A difference is shown with
// the few requests that lead to it, replayed from nothing.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "differential/case_generator.h"
#include "differential/coverage.h"
#include "differential/gaps.h"
#include "differential/normalisers.h"
#include "differential/second_opinion.h"
#include "differential/server_pair.h"
#include "differential/shrinker.h"
#include "differential/witness.h"
#include "differential/words.h"

namespace mayfly::testing {
namespace {

constexpr uint64_t kDefaultSeed = 20261121;
constexpr uint64_t kDefaultRequests = 200'000;
constexpr uint64_t kPartOfNewer = 5;  // one in so many requests more for the newer oracle
constexpr size_t kBatch = 64;
constexpr uint64_t kBatchesPerBrief = 4;      // how often keys run out
constexpr uint64_t kBatchesPerIteration = 4;  // how often SCAN goes through a database
constexpr size_t kMostShown = 10;
constexpr uint64_t kMostShownOfRow = 2;
// How far back the requests are kept that a difference may have come from.
constexpr size_t kMostHistory = 2048;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::stoull(text) : otherwise;
}

// Within quotes, as redis-cli would take it.
std::string Shown(const std::string& bytes) {
  std::ostringstream text;
  text << Bulk(bytes);
  const std::string printed = text.str();
  return printed.substr(printed.find('"'), printed.rfind(')') - printed.find('"'));
}

std::string Shown(const Words& request) {
  std::string line;
  for (const std::string& word : request) line += Shown(word) + ' ';
  return line;
}

class DifferentialRun {
 public:
  DifferentialRun(uint64_t seed, Coverage::Oracle oracle)
      : pair_(ProgramOf(oracle)),
        rough_pair_(ProgramOf(oracle)),
        dice_(seed),
        oracle_(oracle),
        coverage_(pair_.table(), oracle),
        generator_(coverage_, dice_, RealMs() / 1000) {}

  // One batch to both.
  void Step() {
    const bool resp3 = ++batches_ % 2 == 0;
    const size_t piece = batches_ % 3 == 0 ? 1 : 1 + dice_.Below(kBatch);
    std::vector<Case> batch{{.words = {"HELLO", resp3 ? "3" : "2"}, .syntax = coverage_.Find("hello")}};
    while (batch.size() < kBatch) {
      Case drawn = generator_.Next();
      if (drawn.syntax != nullptr && IsRough(drawn.syntax->row->full_name)) {
        CompareAlone(drawn, resp3 ? "3" : "2");
        continue;
      }
      if (std::optional<Case> same = generator_.SameDeadline(drawn)) batch.push_back(std::move(*same));
      if (std::optional<Case> witness = WitnessFor(drawn, coverage_)) batch.push_back(std::move(*witness));
      std::optional<Case> aftermath = AftermathOf(drawn, coverage_);
      batch.push_back(std::move(drawn));
      if (aftermath) batch.push_back(std::move(*aftermath));
    }
    if (batches_ % kBatchesPerBrief == 0) AddBrief(batch);
    Compare(batch, piece);
    if (batches_ % kBatchesPerIteration == 0) CompareIteration();
  }

  // What the oracle is said not to know, it must refuse.
  void CheckUnknown() {
    Dice dice(kDefaultSeed);
    ValuePools values(dice, RealMs() / 1000);
    SyntaxWalker walker(values, dice);
    for (const Gap& gap : Gaps()) {
      if (gap.kind != GapKind::kUnknown) continue;
      const size_t bar = gap.row.find('|');
      const TableRow* row = pair_.table().Find(gap.row.substr(0, bar));
      if (row != nullptr && bar != std::string_view::npos)
        row = CommandTable::FindSubcommand(*row, gap.row.substr(bar + 1));
      if (row == nullptr) continue;  // Coverage complains of it
      const RowSyntax syntax = ReadRow(*row);
      Words words = syntax.Name();
      for (DrawnWord& word : walker.Walk(syntax, gap.token)) words.push_back(std::move(word.text));
      if (pair_.AskRedis(words)[0] != '-')
        complaints_.push_back("gaps.cc says that the oracle does not know " + std::string(gap.row) + " " +
                              std::string(gap.token) + ", but it took " + Shown(words));
    }
  }

  uint64_t sent() const noexcept { return sent_; }
  const std::map<std::string, uint64_t>& different() const noexcept { return different_; }
  const std::string& shown() const noexcept { return shown_; }
  std::vector<std::string> UnreachedGoals() const { return coverage_.Complaints(); }
  std::vector<std::string> Complaints() const {
    std::vector<std::string> all = complaints_;
    for (std::string& line : coverage_.Complaints()) all.push_back(std::move(line));
    for (std::string& line : normalisers_.Complaints(coverage_.table())) all.push_back(std::move(line));
    return all;
  }

 private:
  static std::string ProgramOf(Coverage::Oracle oracle) {
    return oracle == Coverage::Oracle::kNewer ? Oracle::kNewerProgram : Oracle::kProgram;
  }
  void Compare(const std::vector<Case>& batch, size_t piece) {
    std::vector<Words> requests;
    for (const Case& drawn : batch) requests.push_back(drawn.words);
    const ServerPair::Replies replies = pair_.Ask(requests, piece);
    sent_ += batch.size();
    for (size_t i = 0; i < batch.size(); ++i) {
      history_.push_back(batch[i]);
      coverage_.Count(batch[i], replies.redis[i][0] == '-');
      if (Agree(pair_, batch[i], replies, i)) continue;
      Report(batch[i], replies.redis[i], i < replies.mayfly.size() ? replies.mayfly[i] : "");
      Explain(piece);
      // From here on the servers may hold different keys.
      pair_.Reset();
      history_.clear();
      return;
    }
    while (history_.size() > kMostHistory) history_.pop_front();
  }

  // Whether the replies number `i` of the pair, to `sent`, say the same.
  bool Agree(ServerPair& pair, const Case& sent, const ServerPair::Replies& replies, size_t i) {
    if (i >= replies.mayfly.size()) return false;
    const std::string& redis = replies.redis[i];
    const std::string& mayfly = replies.mayfly[i];
    if (redis == mayfly) return true;
    // 7.0, 8.0 and Valkey have three texts here. Ours is that of 7.0.
    constexpr std::string_view kUnbalanced = "-ERR Unbalanced ";
    if (oracle_ == Coverage::Oracle::kNewer && redis.starts_with(kUnbalanced) &&
        mayfly.starts_with(kUnbalanced))
      return true;
    Surroundings surroundings{.late_ms = pair.late_ms(), .deadlines_ms = &generator_.deadlines_ms()};
    if (i > 0) {
      surroundings.redis_before = replies.redis[i - 1];
      surroundings.mayfly_before = replies.mayfly[i - 1];
    }
    if (normalisers_.Same(sent, redis, mayfly, surroundings)) return true;
    const auto newer = SecondOpinion(pair).Of(sent.words, redis, mayfly, surroundings.redis_before);
    return newer && normalisers_.Same(sent, *newer, mayfly, surroundings);
  }

  // Some keys that run out at once, each of them another one, and then the time that they need for that.
  void AddBrief(std::vector<Case>& batch) {
    std::set<std::string> keys;
    for (size_t count = 1 + dice_.Below(3); keys.size() < count;) {
      Case drawn = generator_.Brief();
      if (keys.insert(drawn.words[1]).second) batch.push_back(std::move(drawn));
    }
    batch.push_back({.words = ServerPair::kTimePasses});
  }

  // A whole iteration of the selected database by small pages: each server by its own cursors.
  void CompareIteration() {
    Case scan{.words = {"SCAN", "0"}, .syntax = coverage_.Find("scan")};
    const Words options{"COUNT", std::to_string(1 + dice_.Below(4))};
    scan.words.insert(scan.words.end(), options.begin(), options.end());
    const auto go_through = [&](const std::function<std::string(const Words&)>& ask) {
      Words shown;
      Words request = scan.words;
      do {
        ++sent_;
        const Reply page = TakeReplies(ask(request)).at(0);
        if (page.elements.size() != 2) return Words{"no page"};
        request[1] = page.elements[0].text;
        for (const Reply& key : page.elements[1].elements) shown.push_back(key.text);
      } while (request[1] != "0");
      std::sort(shown.begin(), shown.end());
      return shown;
    };
    Words redis = go_through([this](const Words& request) { return pair_.AskRedis(request); });
    redis.erase(std::unique(redis.begin(), redis.end()), redis.end());  // it may show a key twice
    const Words mayfly = go_through([this](const Words& request) { return pair_.AskMayfly(request); });
    if (redis != mayfly) Report(scan, EncodeRequest(redis), EncodeRequest(mayfly));
  }

  void CompareAlone(const Case& drawn, std::string_view protocol) {
    static constexpr std::string_view kLast = "$11\r\nend of case\r\n";
    std::string bytes = EncodeRequest({"HELLO", std::string(protocol)}) + EncodeRequest(drawn.words);
    // A client that turned its replies off turns them on again.
    if (coverage_.Find("client|reply") != nullptr) bytes += EncodeRequest({"CLIENT", "REPLY", "ON"});
    bytes += EncodeRequest({"ECHO", "end of case"});
    const ServerPair::Outcomes outcomes = rough_pair_.AskAlone(bytes, kLast);
    ++sent_;
    const std::vector<std::string> redis = SplitReplies(outcomes.redis.bytes);
    const std::vector<std::string> mayfly = SplitReplies(outcomes.mayfly.bytes);
    coverage_.Count(drawn, redis.size() > 1 && redis[1][0] == '-');
    bool same = redis.size() == mayfly.size() && outcomes.redis.ended == outcomes.mayfly.ended &&
                outcomes.redis.other_ended == outcomes.mayfly.other_ended;
    for (size_t i = 1; same && i < redis.size(); ++i) {
      same = i == 1 ? Agree(rough_pair_, drawn, {redis, mayfly}, 1) : redis[i] == mayfly[i];
    }
    if (same) return;
    const auto told = [](const ServerPair::Outcome& outcome) {
      return outcome.bytes.substr(std::min(outcome.bytes.find("modules"), outcome.bytes.size())) +
             (outcome.ended ? " (ended)" : "") + (outcome.other_ended ? " (the other ended)" : "");
    };
    Report(drawn, told(outcomes.redis), told(outcomes.mayfly));
  }

  void Report(const Case& drawn, const std::string& redis, const std::string& mayfly) {
    const uint64_t times = ++different_[drawn.syntax != nullptr ? drawn.syntax->row->full_name : "(unknown)"];
    is_shown_ = times <= kMostShownOfRow && shown_count_ < kMostShown;
    if (!is_shown_) return;
    ++shown_count_;
    shown_ += Shown(drawn.words) + "\n  redis:  " + Shown(redis) + "\n  mayfly: " + Shown(mayfly) + "\n";
  }

  // The fewest requests that lead to the difference that was just reported.
  void Explain(size_t piece) {
    if (!is_shown_) return;
    const Case last = history_.back();
    std::vector<Words> requests;
    for (const Case& before : history_) requests.push_back(before.words);
    const std::vector<Words> few = Shrink(requests, [&](const std::vector<Words>& fewer) {
      pair_.Reset();
      return !Agree(pair_, last, pair_.Ask(fewer, piece), fewer.size() - 1);
    });
    if (few.empty()) shown_ += "  from nothing, the last requests do not lead to it\n";
    for (const Words& request : few) shown_ += "    " + Shown(request) + "\n";
  }

  static std::vector<std::string> SplitReplies(std::string_view bytes) {
    std::vector<std::string> replies;
    while (!bytes.empty()) {
      const std::string_view before = bytes;
      if (!TakeReply(bytes)) break;
      replies.emplace_back(before.substr(0, before.size() - bytes.size()));
    }
    return replies;
  }

  ServerPair pair_;
  ServerPair rough_pair_;
  Dice dice_;
  const Coverage::Oracle oracle_;
  Coverage coverage_;
  CaseGenerator generator_;
  Normalisers normalisers_;
  std::deque<Case> history_;
  uint64_t batches_ = 0;
  uint64_t sent_ = 0;
  size_t shown_count_ = 0;
  bool is_shown_ = false;  // the last difference
  std::map<std::string, uint64_t> different_;
  std::string shown_;
  std::vector<std::string> complaints_;
};

}  // namespace

TEST_CASE("Mayfly answers what Redis answers, to every command and option") {
  const uint64_t seed = FromEnvironment("MAYFLY_DIFF_SEED", kDefaultSeed);
  const uint64_t count = FromEnvironment("MAYFLY_DIFF_COMMANDS", kDefaultRequests);
  DifferentialRun run(seed, Coverage::Oracle::kOlder);
  run.CheckUnknown();
  while (run.sent() < count) run.Step();
  std::cout << "differential test: " << run.sent() << " requests from seed " << seed << std::endl;
  UNSCOPED_INFO("MAYFLY_DIFF_SEED=" << seed << " MAYFLY_DIFF_COMMANDS=" << count);
  for (const auto& [row, times] : run.different()) UNSCOPED_INFO(row << ": " << times << " times");
  UNSCOPED_INFO(run.shown());
  CHECK(run.different().empty());
  for (const std::string& complaint : run.Complaints()) FAIL_CHECK(complaint);
}

TEST_CASE("Mayfly answers what a newer Redis answers, where 7.0 says something else") {
  if (!Oracle::Exists(Oracle::kNewerProgram)) {
    std::cout << "left out: there is no " << Oracle::kNewerProgram << " to compare with" << std::endl;
    return;
  }
  const uint64_t seed = FromEnvironment("MAYFLY_DIFF_SEED", kDefaultSeed);
  const uint64_t count = FromEnvironment("MAYFLY_DIFF_COMMANDS", kDefaultRequests) / kPartOfNewer;
  DifferentialRun run(seed, Coverage::Oracle::kNewer);
  while (run.sent() < count) run.Step();
  std::cout << "differential test, newer: " << run.sent() << " requests from seed " << seed << std::endl;
  UNSCOPED_INFO("MAYFLY_DIFF_SEED=" << seed << " MAYFLY_DIFF_COMMANDS=" << count * kPartOfNewer);
  UNSCOPED_INFO(run.shown());
  CHECK(run.different().empty());
  for (const std::string& complaint : run.UnreachedGoals()) FAIL_CHECK(complaint);
}

}  // namespace mayfly::testing
