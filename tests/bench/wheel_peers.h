// The designs that the timing wheel is compared with. All have the same functions: Set and Move (the deadline
// is in the entry already), Remove, and Expire(to), which takes out all that is due and returns how many that
// were.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/time/timing_wheel.h"
#include "wheel_entries.h"

namespace mayfly::bench {

// Mayfly's, driven as by the server's loop: from wake-up to wake-up, with limited output.
class MayflyWheel {
 public:
  static constexpr const char* kName = "mayfly";
  explicit MayflyWheel(EntryHooks hooks) : wheel_(hooks) {}
  void Set(uint32_t ref) {
    if (wheel_.Insert(ref)) [[unlikely]]
      armed_ = wheel_.NextWake();
  }
  void Move(uint32_t ref) {
    if (wheel_.Move(ref)) [[unlikely]]
      armed_ = wheel_.NextWake();
  }
  void Remove(uint32_t ref) { wheel_.Remove(ref); }
  size_t Expire(uint64_t to) {
    size_t count = 0;
    std::array<uint32_t, 256> due;
    for (armed_ = wheel_.NextWake(); armed_ <= to; armed_ = wheel_.NextWake()) {
      count += wheel_.Advance(armed_, due, 4096).due;
    }
    return count;
  }

 private:
  TimingWheel<EntryHooks> wheel_;
  uint64_t armed_ = 0;
};

// The least that a hierarchical wheel can do: the list depends on the highest bit in which deadline and time
// differ. No bitmaps, no wake-up times, no lazy moves; every tick has to be tried to find what is due.
class MinimalWheel {
 public:
  static constexpr const char* kName = "minimal wheel";
  explicit MinimalWheel(EntryHooks hooks) : hooks_(hooks) { heads_.fill(0); }
  void Set(uint32_t ref) {
    const uint64_t deadline = hooks_.Deadline(ref);
    const int level = (63 - std::countl_zero((deadline ^ now_) | 1)) / 6;
    const auto slot = static_cast<uint16_t>(level * 64 + static_cast<int>((deadline >> (6 * level)) % 64));
    const uint32_t old = heads_[slot];
    hooks_.SetNext(ref, old);
    hooks_.SetSlot(ref, slot);
    if (old != 0) hooks_.SetPrev(old, ref);
    heads_[slot] = ref;
  }
  void Move(uint32_t ref) {
    Remove(ref);
    Set(ref);
  }
  void Remove(uint32_t ref) {
    const uint32_t next = hooks_.Next(ref);
    uint32_t& head = heads_[hooks_.Slot(ref)];
    if (head == ref) {
      head = next;
      return;
    }
    const uint32_t prev = hooks_.Prev(ref);
    hooks_.SetNext(prev, next);
    if (next != 0) hooks_.SetPrev(next, prev);
  }
  size_t Expire(uint64_t to) {
    size_t count = 0;
    while (now_ < to) {
      ++now_;
      for (int level = 10; level >= 0; --level) {
        if ((now_ & ((uint64_t{1} << (6 * level)) - 1)) != 0) continue;
        uint32_t ref = std::exchange(heads_[static_cast<size_t>(level) * 64 + (now_ >> (6 * level)) % 64], 0);
        while (ref != 0) {
          const uint32_t next = hooks_.Next(ref);
          if (hooks_.Deadline(ref) <= now_) {
            ++count;
          } else {
            Set(ref);
          }
          ref = next;
        }
      }
    }
    return count;
  }

 private:
  EntryHooks hooks_;
  uint64_t now_ = 0;
  std::array<uint32_t, 704> heads_;
};

// Four levels of 256, 64, 64 and 64 slots, each slot a circular list with a sentinel that is emptied at once
// at its boundary: the timer wheel of operating system kernels for many years.
class FourLevelWheel {
 public:
  static constexpr const char* kName = "4-level cascading wheel";
  explicit FourLevelWheel(EntryHooks hooks) : hooks_(hooks), nodes_(kSlots) {
    for (uint32_t i = 0; i < kSlots; ++i) nodes_[i] = {i | kSentinel, i | kSentinel};
  }
  void Set(uint32_t ref) {
    const uint64_t deadline = std::max(hooks_.Deadline(ref), now_);
    const uint64_t distance = deadline - now_;
    const int level = distance < 256 ? 0 : distance < (1u << 14) ? 1 : distance < (1u << 20) ? 2 : 3;
    const uint32_t slot = SlotOf(level, std::min(deadline, now_ + (1u << 26) - 1)) | kSentinel;
    const uint32_t last = Prev(slot);
    hooks_.SetNext(ref, slot);
    hooks_.SetPrev(ref, last);
    SetNext(last, ref);
    SetPrev(slot, ref);
  }
  void Move(uint32_t ref) {
    Remove(ref);
    Set(ref);
  }
  void Remove(uint32_t ref) {
    SetNext(hooks_.Prev(ref), hooks_.Next(ref));
    SetPrev(hooks_.Next(ref), hooks_.Prev(ref));
  }
  size_t Expire(uint64_t to) {
    size_t count = 0;
    while (now_ < to) {
      ++now_;
      for (int level = 3; level >= 1; --level) {
        if ((now_ & ((uint64_t{1} << ShiftOf(level)) - 1)) == 0) TakeAll(SlotOf(level, now_), count);
      }
      TakeAll(SlotOf(0, now_), count);
    }
    return count;
  }

 private:
  static constexpr uint32_t kSlots = 256 + 3 * 64;
  static constexpr uint32_t kSentinel = uint32_t{1} << 31;

  static int ShiftOf(int level) { return level == 0 ? 0 : 2 + 6 * level; }
  static uint32_t SlotOf(int level, uint64_t time) {
    if (level == 0) return static_cast<uint32_t>(time % 256);
    return static_cast<uint32_t>(256 + (level - 1) * 64) +
           static_cast<uint32_t>((time >> ShiftOf(level)) % 64);
  }
  uint32_t Prev(uint32_t r) const {
    return (r & kSentinel) != 0 ? nodes_[r & ~kSentinel].second : hooks_.Prev(r);
  }
  void SetNext(uint32_t r, uint32_t to) {
    if ((r & kSentinel) != 0) {
      nodes_[r & ~kSentinel].first = to;
    } else {
      hooks_.SetNext(r, to);
    }
  }
  void SetPrev(uint32_t r, uint32_t to) {
    if ((r & kSentinel) != 0) {
      nodes_[r & ~kSentinel].second = to;
    } else {
      hooks_.SetPrev(r, to);
    }
  }
  void TakeAll(uint32_t slot, size_t& count) {
    uint32_t ref = nodes_[slot].first;
    nodes_[slot] = {slot | kSentinel, slot | kSentinel};
    while (ref != (slot | kSentinel)) {
      const uint32_t next = hooks_.Next(ref);
      if (hooks_.Deadline(ref) <= now_) {
        ++count;
      } else {
        Set(ref);
      }
      ref = next;
    }
  }

  EntryHooks hooks_;
  uint64_t now_ = 0;
  std::vector<std::pair<uint32_t, uint32_t>> nodes_;
};

// A binary heap of (deadline, entry). Each entry knows its place, in its next-link, so that it can be
// removed.
class BinaryHeap {
 public:
  static constexpr const char* kName = "binary heap";
  explicit BinaryHeap(EntryHooks hooks) : hooks_(hooks) {}
  void Set(uint32_t ref) {
    items_.push_back({hooks_.Deadline(ref), ref});
    Up(items_.size() - 1);
  }
  void Move(uint32_t ref) {
    const size_t place = hooks_.Next(ref);
    items_[place].first = hooks_.Deadline(ref);
    Down(Up(place));
  }
  void Remove(uint32_t ref) {
    const size_t place = hooks_.Next(ref);
    const Item last = items_.back();
    items_.pop_back();
    if (place == items_.size()) return;
    items_[place] = last;
    Down(Up(place));
  }
  size_t Expire(uint64_t to) {
    size_t count = 0;
    for (; !items_.empty() && items_[0].first <= to; ++count) Remove(items_[0].second);
    return count;
  }

 private:
  using Item = std::pair<uint64_t, uint32_t>;

  void Put(size_t place, Item item) {
    items_[place] = item;
    hooks_.SetNext(item.second, static_cast<uint32_t>(place));
  }
  size_t Up(size_t place) {
    const Item item = items_[place];
    for (; place > 0 && items_[(place - 1) / 2].first > item.first; place = (place - 1) / 2) {
      Put(place, items_[(place - 1) / 2]);
    }
    Put(place, item);
    return place;
  }
  void Down(size_t place) {
    const Item item = items_[place];
    for (size_t child; (child = 2 * place + 1) < items_.size(); place = child) {
      if (child + 1 < items_.size() && items_[child + 1].first < items_[child].first) ++child;
      if (items_[child].first >= item.first) break;
      Put(place, items_[child]);
    }
    Put(place, item);
  }

  EntryHooks hooks_;
  std::vector<Item> items_;
};

// go-zero's design: one ring of 300 slots of a second, a count of rounds for each timer, tombstones for moved
// and removed timers, and a map from a timer to its place. Only its rule for moves, which is wrong
// (moves.cc), is replaced: a moved timer is always filed anew.
class RoundsWheel {
 public:
  static constexpr const char* kName = "fixed slots with rounds";
  explicit RoundsWheel(EntryHooks hooks) : hooks_(hooks), slots_(kSlots) {}
  void Set(uint32_t ref) {
    const uint64_t steps = std::max<uint64_t>(1, (hooks_.Deadline(ref) + kTick - 1) / kTick - ticks_);
    std::list<Item>& slot = slots_[(ticks_ + steps) % kSlots];
    slot.push_back({ref, static_cast<uint32_t>((steps - 1) / kSlots), false});
    places_[ref] = &slot.back();
  }
  void Move(uint32_t ref) {
    places_[ref]->removed = true;
    Set(ref);
  }
  void Remove(uint32_t ref) {
    const auto place = places_.find(ref);
    place->second->removed = true;
    places_.erase(place);
  }
  size_t Expire(uint64_t to) {
    size_t count = 0;
    while (ticks_ * kTick < to) {
      std::list<Item>& slot = slots_[++ticks_ % kSlots];
      for (auto item = slot.begin(); item != slot.end();) {
        if (!item->removed && item->rounds > 0) {
          --item->rounds;
          ++item;
          continue;
        }
        if (!item->removed) {
          places_.erase(item->ref);
          ++count;
        }
        item = slot.erase(item);
      }
    }
    return count;
  }

 private:
  static constexpr uint64_t kSlots = 300;
  static constexpr uint64_t kTick = 1000;
  struct Item {
    uint32_t ref;
    uint32_t rounds;
    bool removed;
  };

  EntryHooks hooks_;
  uint64_t ticks_ = 0;
  std::vector<std::list<Item>> slots_;
  std::unordered_map<uint32_t, Item*> places_;
};

}  // namespace mayfly::bench
