// What a server answers to requests on strings and their deadlines, kept in a std::map: the fuzz target command_table
// compares every byte of its replies with this.
//
// Requests are drawn here, on few keys of two databases, so that they meet. The clocks go in step, so a deadline is one
// number, and a key is gone exactly when the clock shows it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/numbers.h"
#include "differential/dice.h"

namespace mayfly::testing {

class StringModel {
 public:
  struct Exchange {
    std::vector<std::string> request;
    std::string reply;
  };

  // Borrows the dice.
  explicit StringModel(Dice& dice) : dice_(dice) {}

  // Draws a request, and answers it as of `now_ms` (Unix time). `all_freed`: what is due has been freed, so DBSIZE counts
  // what is there.
  Exchange Next(int64_t now_ms, bool all_freed) {
    now_ms_ = now_ms;
    may_count_ = all_freed;
    for (Keys& keys : databases_) {
      std::erase_if(keys,
                    [&](const auto& key) { return key.second.deadline_ms.value_or(now_ms + 1) <= now_ms; });
    }
    static constexpr Exchange (StringModel::* kWays[])() = {
        &StringModel::Set,    &StringModel::Set,      &StringModel::Get,    &StringModel::GetEx,
        &StringModel::GetDel, &StringModel::Append,   &StringModel::IncrBy, &StringModel::StrLen,
        &StringModel::Del,    &StringModel::Expire,   &StringModel::Expire, &StringModel::Persist,
        &StringModel::Ttl,    &StringModel::Ttl,      &StringModel::Rename, &StringModel::Copy,
        &StringModel::Move,   &StringModel::Swap,     &StringModel::Flush,  &StringModel::Select,
        &StringModel::MSet,   &StringModel::SetRange, &StringModel::Count,  &StringModel::Exists};
    return (this->*kWays[dice_.Below(std::size(kWays))])();
  }

 private:
  struct Value {
    std::string text;
    std::optional<int64_t> deadline_ms;
  };
  using Keys = std::map<std::string, Value>;
  using Request = std::vector<std::string>;

  static constexpr int64_t kFarMs = 300;  // of the deadlines that are drawn; the clock moves by as much
  static constexpr std::string_view kOk = "+OK\r\n";
  static constexpr std::string_view kNil = "$-1\r\n";
  static constexpr std::string_view kNoKey = "-ERR no such key\r\n";
  static constexpr std::string_view kSame = "-ERR source and destination objects are the same\r\n";

  static std::string Number(int64_t number) { return ":" + std::to_string(number) + "\r\n"; }
  static std::string Bulk(const std::string& text) {
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  }
  static Exchange Say(Request request, std::string_view reply) {
    return {std::move(request), std::string(reply)};
  }

  Keys& keys() { return databases_[db_]; }
  std::string Key() { return std::string(1, static_cast<char>('a' + dice_.Below(3))); }
  std::string Text() {
    static constexpr std::array<size_t, 8> kSizes = {0, 1, 5, 44, 128, 2000, 16'385, 40'000};
    if (dice_.OneIn(2)) return std::to_string(dice_.Between(-100, 100'000));
    return std::string(kSizes[dice_.Below(kSizes.size())], static_cast<char>('a' + dice_.Below(26)));
  }
  Value* Find(const std::string& key) {
    const auto found = keys().find(key);
    return found != keys().end() ? &found->second : nullptr;
  }
  // A deadline in the past takes the key away at once.
  void SetDeadline(const std::string& key, int64_t deadline_ms) {
    if (deadline_ms <= now_ms_)
      keys().erase(key);
    else
      keys()[key].deadline_ms = deadline_ms;
  }

  Exchange Set() {
    const std::string key = Key();
    const std::string text = Text();
    Request request{"SET", key, text};
    const Value* const old = Find(key);
    const size_t condition = dice_.Below(4);
    if (condition == 1) request.emplace_back("NX");
    if (condition == 2) request.emplace_back("XX");
    const bool get = dice_.OneIn(4);
    if (get) request.emplace_back("GET");
    const bool stored = condition == 1 ? old == nullptr : condition != 2 || old != nullptr;
    std::string reply(stored ? kOk : kNil);
    if (get) reply = old != nullptr ? Bulk(old->text) : kNil;
    Value value{text, {}};
    const size_t time = dice_.Below(4);
    const int64_t ms = dice_.Between(1, kFarMs);
    if (time == 1) request.insert(request.end(), {"PX", std::to_string(ms)});
    if (time == 2) request.insert(request.end(), {"PXAT", std::to_string(now_ms_ + ms)});
    if (time == 1 || time == 2) value.deadline_ms = now_ms_ + ms;
    if (time == 3) {
      request.emplace_back("KEEPTTL");
      if (old != nullptr) value.deadline_ms = old->deadline_ms;
    }
    if (stored) keys()[key] = value;
    return Say(request, reply);
  }
  Exchange MSet() {
    const std::string one = Key();
    const std::string other = Key();
    const std::string text = Text();
    keys()[one] = {text, {}};
    keys()[other] = {"2", {}};
    return Say({"MSET", one, text, other, "2"}, kOk);
  }
  Exchange Get() {
    const std::string key = Key();
    const Value* const value = Find(key);
    return Say({"GET", key}, value != nullptr ? Bulk(value->text) : std::string(kNil));
  }
  Exchange GetEx() {
    const std::string key = Key();
    Value* const value = Find(key);
    const std::string reply = value != nullptr ? Bulk(value->text) : std::string(kNil);
    if (dice_.OneIn(2)) {
      if (value != nullptr) value->deadline_ms.reset();
      return Say({"GETEX", key, "PERSIST"}, reply);
    }
    const int64_t ms = dice_.Between(1, kFarMs);
    if (value != nullptr) SetDeadline(key, now_ms_ + ms);
    return Say({"GETEX", key, "PX", std::to_string(ms)}, reply);
  }
  Exchange GetDel() {
    const std::string key = Key();
    const Value* const value = Find(key);
    const std::string reply = value != nullptr ? Bulk(value->text) : std::string(kNil);
    keys().erase(key);
    return Say({"GETDEL", key}, reply);
  }
  Exchange Append() {
    const std::string key = Key();
    const std::string text = Text();
    // An empty text makes an empty key of an absent one, as in Redis.
    Value& value = keys()[key];
    value.text += text;
    return Say({"APPEND", key, text}, Number(static_cast<int64_t>(value.text.size())));
  }
  Exchange SetRange() {
    const std::string key = Key();
    const std::string text(dice_.Below(20), 'r');
    const size_t at = dice_.Below(200);
    Request request{"SETRANGE", key, std::to_string(at), text};
    if (text.empty()) {  // creates and changes nothing
      const Value* const value = Find(key);
      return Say(request, Number(value != nullptr ? static_cast<int64_t>(value->text.size()) : 0));
    }
    Value& value = keys()[key];
    if (value.text.size() < at + text.size()) value.text.resize(at + text.size(), '\0');
    value.text.replace(at, text.size(), text);
    return Say(request, Number(static_cast<int64_t>(value.text.size())));
  }
  Exchange IncrBy() {
    const std::string key = Key();
    const int64_t by = dice_.Between(-1000, 1000);
    Request request{"INCRBY", key, std::to_string(by)};
    const Value* const value = Find(key);
    int64_t number = 0;
    if (value != nullptr) {
      const std::optional<int64_t> parsed = ParseInteger(value->text);
      if (!parsed) return Say(request, "-ERR value is not an integer or out of range\r\n");
      number = *parsed;
    }
    if (__builtin_add_overflow(number, by, &number))
      return Say(request, "-ERR increment or decrement would overflow\r\n");
    keys()[key].text = std::to_string(number);
    return Say(request, Number(number));
  }
  Exchange StrLen() {
    const std::string key = Key();
    const Value* const value = Find(key);
    return Say({"STRLEN", key}, Number(value != nullptr ? static_cast<int64_t>(value->text.size()) : 0));
  }
  Exchange Exists() {
    const std::string key = Key();
    return Say({"EXISTS", key, key}, Number(Find(key) != nullptr ? 2 : 0));
  }
  Exchange Del() {
    const std::string key = Key();
    return Say({dice_.OneIn(2) ? "DEL" : "UNLINK", key}, Number(static_cast<int64_t>(keys().erase(key))));
  }
  Exchange Expire() {
    const std::string key = Key();
    const int64_t ms = dice_.Between(-20, kFarMs);
    Request request{"PEXPIRE", key, std::to_string(ms)};
    static constexpr std::array<std::string_view, 5> kConditions = {"", "NX", "XX", "GT", "LT"};
    const std::string_view condition = kConditions[dice_.Below(kConditions.size())];
    if (!condition.empty()) request.emplace_back(condition);
    const Value* const value = Find(key);
    if (value == nullptr) return Say(request, Number(0));
    const std::optional<int64_t> old = value->deadline_ms;
    const int64_t wanted = now_ms_ + ms;
    const bool refused = (condition == "NX" && old) || (condition == "XX" && !old) ||
                         (condition == "GT" && (!old || wanted <= *old)) ||
                         (condition == "LT" && old && wanted >= *old);
    if (!refused) SetDeadline(key, wanted);
    return Say(request, Number(refused ? 0 : 1));
  }
  Exchange Persist() {
    const std::string key = Key();
    Value* const value = Find(key);
    const bool had = value != nullptr && value->deadline_ms;
    if (had) value->deadline_ms.reset();
    return Say({"PERSIST", key}, Number(had ? 1 : 0));
  }
  Exchange Ttl() {
    const std::string key = Key();
    const Value* const value = Find(key);
    const int64_t left = value == nullptr ? -2 : value->deadline_ms ? *value->deadline_ms - now_ms_ : -1;
    return Say({"PTTL", key}, Number(left));
  }
  Exchange Rename() {
    const std::string from = Key();
    const std::string to = Key();
    Request request{"RENAME", from, to};
    const Value* const value = Find(from);
    if (value == nullptr) return Say(request, kNoKey);
    const Value moved = *value;
    keys().erase(from);
    keys()[to] = moved;
    return Say(request, kOk);
  }
  Exchange Copy() {
    const std::string from = Key();
    const std::string to = Key();
    const size_t db = dice_.Below(databases_.size());
    Request request{"COPY", from, to, "DB", std::to_string(db)};
    const bool replace = dice_.OneIn(2);
    if (replace) request.emplace_back("REPLACE");
    if (from == to && db == db_) return Say(request, kSame);
    const Value* const value = Find(from);
    const bool copied = value != nullptr && (replace || !databases_[db].contains(to));
    if (copied) databases_[db][to] = Value(*value);
    return Say(request, Number(copied ? 1 : 0));
  }
  Exchange Move() {
    const std::string key = Key();
    const size_t db = dice_.Below(databases_.size());
    Request request{"MOVE", key, std::to_string(db)};
    if (db == db_) return Say(request, kSame);
    const Value* const value = Find(key);
    const bool moved = value != nullptr && !databases_[db].contains(key);
    if (moved) {
      databases_[db][key] = *value;
      keys().erase(key);
    }
    return Say(request, Number(moved ? 1 : 0));
  }
  Exchange Swap() {
    std::swap(databases_[0], databases_[1]);
    return Say({"SWAPDB", "0", "1"}, kOk);
  }
  Exchange Flush() {
    if (!dice_.OneIn(4)) return Count();
    keys().clear();
    return Say({"FLUSHDB", dice_.OneIn(2) ? "ASYNC" : "SYNC"}, kOk);
  }
  Exchange Count() {
    if (!may_count_) return Exists();
    return Say({"DBSIZE"}, Number(static_cast<int64_t>(keys().size())));
  }
  Exchange Select() {
    db_ = dice_.Below(databases_.size());
    return Say({"SELECT", std::to_string(db_)}, kOk);
  }

  Dice& dice_;
  std::array<Keys, 2> databases_;
  size_t db_ = 0;
  int64_t now_ms_ = 0;
  bool may_count_ = true;
};

}  // namespace mayfly::testing
