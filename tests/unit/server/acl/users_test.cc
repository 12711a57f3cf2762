#include "server/acl/users.h"

#include <string>

#include "support/catch.h"

namespace mayfly {

TEST_CASE("two secrets are the same only if their lengths and all their bytes are") {
  CHECK(SameSecret("", ""));
  CHECK(SameSecret("secret", "secret"));
  CHECK_FALSE(SameSecret("", "secret"));
  CHECK_FALSE(SameSecret("secret", ""));
  CHECK_FALSE(SameSecret("secre", "secret"));
  CHECK_FALSE(SameSecret("secretsecret", "secret"));
  CHECK_FALSE(SameSecret(std::string(3, '\0'), ""));
  std::string wrong = "secret";
  for (char& c : wrong) {
    c = static_cast<char>(c ^ 1);
    CHECK_FALSE(SameSecret(wrong, "secret"));
    c = static_cast<char>(c ^ 1);
  }
}

}  // namespace mayfly
