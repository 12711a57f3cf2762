#include "server/clients/sessions.h"

#include <array>
#include <vector>

#include "base/memory/output.h"
#include "support/catch.h"

namespace mayfly {

TEST_CASE("who is told of what others do is written to after those who have asked") {
  ChunkPool chunks;
  Sessions sessions;
  std::array<Session, 4> all = {Session(chunks), Session(chunks), Session(chunks), Session(chunks)};
  for (Session& session : all) sessions.Add(session);
  all[0].Set(Mode::kSubscribed);
  all[2].Set(Mode::kTracking);
  for (Session& session : all) sessions.MarkDirty(session);
  const std::vector<Session*> dirty = sessions.TakeDirty();
  REQUIRE(dirty.size() == all.size());
  for (size_t i = 0; i < 2; ++i) CHECK((dirty[i] == &all[1] || dirty[i] == &all[3]));
  CHECK_FALSE(sessions.AnyDirty());
  all[0].Clear(Mode::kSubscribed);
  all[2].Clear(Mode::kTracking);
  for (Session& session : all) sessions.MarkDirty(session);
  CHECK(sessions.TakeDirty() == std::vector<Session*>{&all[0], &all[1], &all[2], &all[3]});
  for (Session& session : all) sessions.Remove(session);
}

}  // namespace mayfly
