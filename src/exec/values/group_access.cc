#include "exec/values/group_access.h"

#include <string>

namespace mayfly {

bool FindGroup(Context& ctx, const Key& key, std::string_view name, FoundGroup& found) {
  Typed<StreamValue> typed;
  if (!ctx.ReadTyped(key, typed)) return false;
  found.entry = typed.entry;
  found.stream = typed.value;
  if (typed.value != nullptr && typed.value->groups() != nullptr)
    found.group = typed.value->groups()->Find(name);
  return true;
}

void FailNoGroup(Context& ctx, std::string_view key, std::string_view group) {
  ctx.Fail("NOGROUP No such key '" + std::string(errors::Repeated(key)) + "' or consumer group '" +
           std::string(errors::Repeated(group)) + "'");
}

void FailNoGroupOfKey(Context& ctx, std::string_view key, std::string_view group) {
  ctx.Fail("NOGROUP No such consumer group '" + std::string(errors::Repeated(group)) + "' for key name '" +
           std::string(errors::Repeated(key)) + "'");
}

StreamConsumer& ConsumerIn(StreamGroup& group, std::string_view name, int64_t now_ms, bool& created) {
  if (StreamConsumer* const found = group.FindConsumer(name)) {
    found->seen_ms = now_ms;
    return *found;
  }
  StreamConsumer& consumer = group.AddConsumer(name, now_ms);
  created = true;
  return consumer;
}

}  // namespace mayfly
