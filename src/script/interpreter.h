// One state of Lua with the libraries of scripts: compiles, calls and reports errors. No effect of a script on the state
// outlives the script. EVAL has one state, functions have another.
//
// Code that may fail runs protected within a method here: the method's caller gets the error as a reply or a text. The base
// of the state's stack holds the constant parts of each call: only the script itself allocates memory during a call. Owns
// the state. Loop thread only.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "script/lua/lua_api.h"
#include "script/lua/state_data.h"
#include "script/run.h"

namespace mayfly::script {

// A compiled function of a state: its index in Lua's registry.
using FunctionRef = int;

class Interpreter {
 public:
  // Counts the state's memory in `used`. Throws std::bad_alloc.
  Interpreter(Server& server, uint64_t& used);
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  ~Interpreter();

  // The interpreter that owns this state, or the main state of this coroutine.
  static Interpreter& Of(lua_State* L) noexcept { return static_cast<Place&>(StateData::Of(L)).interpreter; }
  Server& server() noexcept { return server_; }
  // The present run; null between runs and while a library is loaded.
  Run* run() noexcept { return run_; }
  // Room for the arguments of a call.
  std::vector<std::string_view>& words() noexcept { return words_; }

  // Compiles a script. On an error returns LUA_NOREF and puts the reason into `problem`.
  FunctionRef CompileScript(std::string_view text, std::string& problem);
  // Compiles `text` and runs it once. The only global of the text is `redis`, the table pushed by `push_api`; the table's
  // functions get `loading` by the method below. On an error returns false and puts the reason into `problem`.
  bool RunOnce(std::string_view text, void (*push_api)(lua_State*), void* loading, std::string& problem);
  void* loading() noexcept { return loading_; }
  void Forget(FunctionRef function) noexcept;
  // Pops a function from the top and keeps the function. May raise an error of Lua.
  static FunctionRef Keep(lua_State* L) { return luaL_ref(L, LUA_REGISTRYINDEX); }

  // Calls a function and writes its reply. Throws std::bad_alloc if memory is too short for the reply.
  void Call(Run& run, FunctionRef function);

 private:
  // The context of a state's allocator.
  struct Place : StateData {
    Interpreter& interpreter;
  };
  struct Frame;
  struct Source;
  // The time limit of a run, and the error of a run that cannot go on later.
  struct Watch {
    uint64_t began = 0;    // cycles
    uint64_t most_us = 0;  // 0: never
    const char* error = nullptr;
  };

  static constexpr size_t kLarge = size_t{64} << 10;  // bytes of a block
  static void* Resize(void* place, void* block, size_t old_size, size_t new_size) noexcept {
    if (new_size >= kLarge && new_size > old_size) [[unlikely]]
      static_cast<Place*>(place)->interpreter.CountLarge(new_size);
    return static_cast<Place*>(place)->heap.Resize(block, old_size, new_size);
  }
  // Instructions that make large blocks (text .. text) take long: after a megabyte of large blocks the next instruction
  // looks at the time. Those that read large blocks (text + 0, text < text) do, too: the larger the largest block of a run,
  // the fewer instructions between two looks. Not within a coroutine, which has a hook of its own.
  void CountLarge(size_t size) noexcept;
  int InstructionsPerLook() const noexcept;
  // Lets go of what a script has left in KEYS and ARGV: nobody else could use that memory. Takes no memory.
  void DropWords() noexcept;
  // Functions for Lua; each gets a pointer to its data.
  static int Prepare(lua_State* L);
  static int Enter(lua_State* L);
  static int Describe(lua_State* L);
  static int OnError(lua_State* L);
  static int Compile(lua_State* L);
  static int CompileAndRun(lua_State* L);
  static void OnCount(lua_State* L, lua_Debug*);

  static void ReadErrorFields(lua_State* L);
  static void WriteIntoBuffer(lua_State* L, Frame& frame);
  void SendBuffer(Frame& frame);
  void Fail(Frame& frame);
  void StartWatch(uint64_t most_us, const char* error) noexcept;
  // Returns true if the time limit has passed.
  bool EndWatch() noexcept;
  void CollectGarbage() noexcept;

  Server& server_;
  Place place_;
  lua_State* L_ = nullptr;
  Run* run_ = nullptr;
  void* loading_ = nullptr;
  Watch watch_;
  std::vector<std::string_view> words_;
  size_t large_ = 0;    // bytes of large blocks since they last made an instruction look at the time
  size_t largest_ = 0;  // block of this run
};

}  // namespace mayfly::script
