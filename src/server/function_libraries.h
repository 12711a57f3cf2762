// The libraries of FUNCTION LOAD as snapshots see them: texts. The floor of snapshots and the floor of scripts lie beside
// each other, and neither includes the other. So this header has the interface: scripts implement it, snapshots call it.
//
//   saver, FUNCTION DUMP --ForEachText--> texts
//   loader: BeginLoad, then Adopt for each text of the file, then EndLoad
//
// What clients do during a load wins over the file, as with keys: a library that a client has loaded, replaced or deleted
// meanwhile is not taken from the file, and after FUNCTION FLUSH none is.
//
// Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace mayfly {

struct Server;

class FunctionLibraries {
 public:
  enum class Adoption : uint8_t {
    kLoaded,
    kOvertaken,  // clients have loaded or dropped the library meanwhile
    kRefused,    // its text cannot be loaded
  };
  // Finds the libraries of a server; null if there are none and `make` is false. Throws std::bad_alloc if `make` is true.
  using Finder = FunctionLibraries* (*)(Server& server, bool make);
  // The floor of scripts has one such object, a constant.
  class Home {
   public:
    explicit Home(Finder finder) noexcept { TheFinder() = finder; }
  };

  FunctionLibraries(const FunctionLibraries&) = delete;
  FunctionLibraries& operator=(const FunctionLibraries&) = delete;

  // Null in a program without scripts.
  static FunctionLibraries* Of(Server& server) { return Find(server, true); }
  // Also null if the server has had no script yet.
  static FunctionLibraries* IfMade(Server& server) { return Find(server, false); }

  // By the names of the libraries.
  virtual void ForEachText(const std::function<void(std::string_view)>& fn) const = 0;
  // Notes from now on which libraries clients drop.
  virtual void BeginLoad() noexcept = 0;
  // Loads a library of a file. `replaces`: the file wins over libraries of the same name. `problem` is the reason for
  // kRefused, without a code. Throws std::bad_alloc. REQUIRES: after BeginLoad; no script is suspended.
  virtual Adoption Adopt(std::string_view text, bool replaces, std::string& problem) = 0;
  virtual void EndLoad() noexcept = 0;
  // As FUNCTION FLUSH. REQUIRES: no script is suspended.
  virtual void Flush() noexcept = 0;

 protected:
  FunctionLibraries() = default;
  ~FunctionLibraries() = default;

 private:
  static FunctionLibraries* Find(Server& server, bool make) {
    return TheFinder() != nullptr ? TheFinder()(server, make) : nullptr;
  }
  // Set before main begins, and never after.
  static Finder& TheFinder() noexcept {
    static Finder finder = nullptr;
    return finder;
  }
};

}  // namespace mayfly
