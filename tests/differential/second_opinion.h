// What a newer Redis would say where the oracle, being 7.0, looks at the arguments in another order or does
// not know the request in this form: the oracle is asked the same in other words, and that is what Mayfly's
// reply must be.
#pragma once

#include <optional>
#include <string>

#include "differential/case.h"
#include "differential/server_pair.h"
#include "support/oracle.h"

namespace mayfly::testing {

class SecondOpinion {
 public:
  // Borrows the pair.
  explicit SecondOpinion(ServerPair& pair) : pair_(pair) {}

  // `redis` and `mayfly`: the replies that differ. `before`: the oracle's reply to the request before, for
  // which WitnessFor has chosen one (witness.h). Nothing: there is no other way to ask.
  std::optional<std::string> Of(const Words& request, const std::string& redis, const std::string& mayfly,
                                const std::string& before);

 private:
  std::optional<std::string> OfBits(const Words& request, const std::string& redis, const std::string& mayfly,
                                    const std::string& before);
  std::optional<std::string> OfHello(const Words& request, const std::string& redis);
  // Over a connection of its own, with a string at kProbe.
  std::string Ask(const Words& request);

  ServerPair& pair_;
};

}  // namespace mayfly::testing
