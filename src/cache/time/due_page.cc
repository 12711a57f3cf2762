#include "cache/time/due_page.h"

#include <algorithm>

#include "cache/time/deadlines.h"

namespace mayfly {
namespace {

// A list of one of the wheels.
struct Source {
  uint64_t at_ms;  // when the list must be empty, in monotonic ms; not before now
  wheel::ListId list;
  bool wall;
};

uint64_t SaturatingSum(uint64_t a, uint64_t b) noexcept { return a + std::min(b, UINT64_MAX - a); }

// Adds the lists that may hold a deadline from `since_ms` to `until_ms`, both monotonic.
template <typename Wheel>
void AddSources(std::vector<Source>& sources, const Wheel& wheel, Expiry::Kind clock, uint64_t since_ms,
                uint64_t until_ms, Now now) {
  const uint64_t clock_ms = Expiry::NowOn(clock, now);
  const auto mono = [&](uint64_t ms) {
    return SaturatingSum(now.mono_ms, ms <= clock_ms ? 0 : ms - clock_ms);
  };
  wheel.ForEachList([&](wheel::ListId list, uint64_t by, uint64_t last) {
    if (mono(last) >= since_ms && mono(by) <= until_ms)
      sources.push_back({mono(by), list, clock == Expiry::Kind::kWall});
  });
}

}  // namespace

bool Deadlines::FillPage(DuePage& page, uint64_t within_ms, size_t most, Now now) const {
  assert(page.entries.empty() && (page.cursor == 0 || DuePage::Owns(page.cursor)));
  const bool first = page.cursor == 0;
  if (Unsure() || (!first && (with_two_times_ != 0 || !DuePage::HasStep(page.cursor, steps_)))) return false;
  const uint64_t since_ms = first ? 0 : DuePage::TimeOf(page.cursor);
  const uint64_t until_ms = SaturatingSum(now.mono_ms, within_ms);
  std::vector<Source> sources;
  AddSources(sources, mono_, Expiry::Kind::kRelative, since_ms, until_ms, now);
  AddSources(sources, wall_, Expiry::Kind::kWall, since_ms, until_ms, now);
  std::sort(sources.begin(), sources.end(),
            [](const Source& a, const Source& b) { return a.at_ms < b.at_ms; });

  // The page may end before a source if the source just before it was in no earlier page.
  size_t looked = 0;
  size_t entries_at_end = 0;
  uint64_t end_ms = 0;  // 0: no end is known
  uint64_t before_ms = 0;
  for (const Source& source : sources) {
    if (looked != 0 && before_ms >= since_ms && source.at_ms > before_ms) {
      end_ms = source.at_ms;
      entries_at_end = page.entries.size();
    }
    before_ms = source.at_ms;
    const auto look = [&](HeapRef ref) {
      if (looked == most) return false;
      ++looked;
      if (At(ref)->expires()) page.entries.push_back(At(ref));
      return true;
    };
    if ((source.wall ? wall_ : mono_).ForEachOf(source.list, look)) continue;
    const bool ends = end_ms != 0 && end_ms <= DuePage::kLatest && with_two_times_ == 0;
    page.entries.resize(ends ? entries_at_end : 0);
    if (ends) page.cursor = DuePage::CursorAt(end_ms, steps_);
    return ends;
  }
  page.cursor = 0;
  return true;
}

}  // namespace mayfly
