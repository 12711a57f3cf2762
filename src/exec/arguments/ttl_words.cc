#include "exec/arguments/ttl_words.h"

#include <algorithm>

#include "cache/time/ttl_rules.h"

namespace mayfly {

bool TtlWords::Take(uint64_t word, Args& args) noexcept {
  if (word == WordOf("JITTER")) {
    if (jitter_) return Blame("ERR JITTER is given twice");
    if (args.Done()) return Blame("ERR JITTER is followed by a percentage, as in EX 60 JITTER 10");
    jitter_ = args.Next();
    return true;
  }
  if (word == WordOf("MAX")) return Blame("ERR MAX comes right after SLIDE, as in EX 60 SLIDE MAX 3600");
  if (word != WordOf("SLIDE")) return false;
  if (slides_) return Blame("ERR SLIDE is given twice");
  slides_ = true;
  if (!args.Accept("MAX")) return true;
  if (args.Done()) return Blame("ERR SLIDE MAX is followed by a time, in the unit of the TTL");
  most_ = args.Next();
  return true;
}

bool TtlWords::Resolve(Context& ctx, TimeUnit unit, Expiry& expiry, EntryTerms& terms) const {
  const uint64_t asked_mono_ms = expiry.deadline_ms;  // without jitter
  if (jitter_) {
    int64_t percent = 0;
    if (!ParseInteger(*jitter_, percent)) return ctx.Fail(errors::kNotInteger), false;
    if (percent < 0 || percent > kJitterMax)
      return ctx.Fail("ERR JITTER must be a percentage between 0 and 100"), false;
    expiry = Jittered(expiry, static_cast<unsigned>(percent), ctx.server.random, ctx.now);
  }
  if (!slides_) return true;
  terms.slide_ms = expiry.deadline_ms - ctx.now.mono_ms;
  if (!most_) return true;
  Expiry latest;
  if (!ReadExpiry(ctx, *most_, unit, TimeBase::kNow, latest)) return false;
  if (latest.deadline_ms < asked_mono_ms)
    return ctx.Fail("ERR SLIDE MAX must not be less than the TTL: MAX counts from now, and ends the sliding"),
           false;
  terms.slide_until_ms = latest.deadline_ms;
  expiry.deadline_ms = std::min(expiry.deadline_ms, latest.deadline_ms);  // which jitter may have passed
  return true;
}

}  // namespace mayfly
