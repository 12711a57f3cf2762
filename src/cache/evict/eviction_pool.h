// The walk through the quotas from which a victim may come: a part of quotas.h.
#pragma once

#include "cache/owners/namespaces.h"
#include "cache/owners/quotas.h"

namespace mayfly {

// Calls fn(quota) for each quota of the pool.
template <typename Fn>
void ForEachIn(const EvictionPool& pool, const Quotas& quotas, Fn&& fn) {
  if (pool.only != nullptr) {
    for (Quota* share : pool.only->shares()) fn(*share);
    return;
  }
  quotas.ForEach([&](Quota& quota) {
    if (pool.Has(quota)) fn(quota);
  });
}

}  // namespace mayfly
