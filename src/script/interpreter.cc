#include "script/interpreter.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/fiber.h"
#include "base/time/clock.h"
#include "base/time/tsc.h"
#include "config/sources/options.h"
#include "exec/dispatch/executor.h"
#include "script/libraries/libraries.h"
#include "script/libraries/sandbox.h"
#include "script/lua/protected_calls.h"
#include "script/redis_library.h"
#include "script/reply_values.h"

namespace mayfly::script {
namespace {

// The values at the base of the state's stack.
enum Slot : int { kOnError = 1, kEnter = 2, kDescribe = 3, kGlobals = 4, kSlots = 4 };

// Between two looks at the time. 2,000 instructions take some microseconds, but each instruction may call a function of
// Lua's library that takes much longer.
constexpr int kInstructionsPerLook = 2'000;
constexpr const char* kScriptName = "@user_script";
constexpr const char* kLibraryName = "@user_function";
constexpr const char* kKilled = "Script killed by user with SCRIPT KILL...";
constexpr const char* kLoadTooLong = "FUNCTION LOAD timeout";
constexpr const char* kErrorFields[] = {"err", "source", "line", "ignore_error_stats_update"};
constexpr const char* kTooLong = "Script stopped: it has been running for longer than busy-reply-threshold";

// Handles an error for which the state has no memory. The exception passes Lua like Lua's own exceptions.
int Panic(lua_State*) { throw std::bad_alloc(); }

// Pushes the text of a value that is no table, as tostring does.
void PushAsText(lua_State* L, int index) {
  switch (lua_type(L, index)) {
    case LUA_TNUMBER:
    case LUA_TSTRING:
      lua_pushvalue(L, index);
      return;
    case LUA_TBOOLEAN:
      return lua_pushstring(L, lua_toboolean(L, index) != 0 ? "true" : "false");
    case LUA_TNIL:
      return lua_pushliteral(L, "nil");
    default:
      lua_pushfstring(L, "%s: %p", luaL_typename(L, index), lua_topointer(L, index));
  }
}

// Makes the shield of the globals read from the table on top, and pops the table.
void ShowGlobals(lua_State* L) {
  lua_getmetatable(L, LUA_GLOBALSINDEX);
  lua_insert(L, -2);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

void OpenLibrary(lua_State* L, const char* name, void (*open)(lua_State*)) {
  open(L);
  lua_setglobal(L, name);
}

}  // namespace

// The state of a call, shared by Call and the functions that Call runs in Lua.
struct Interpreter::Frame {
  Interpreter& interpreter;
  Run& run;
  FunctionRef function;
  bool counted = false;       // the reply is an error already counted
  WrittenErrors errors = {};  // in the reply
  bool replying = false;      // a reply may be half written
  bool in_buffer = false;     // the reply is in run.replies
  bool no_memory = false;     // for an error reply
};

// A text to compile, and the result.
struct Interpreter::Source {
  Interpreter& interpreter;
  std::string_view text;
  void (*push_api)(lua_State*) = nullptr;
  FunctionRef function = LUA_NOREF;
};

Interpreter::Interpreter(Server& server, uint64_t& used)
    : server_(server),
      place_{{.heap = LuaHeap(used), .on_count = OnCount, .random_state = server.random()}, *this} {
  L_ = lua_newstate(Resize, &place_);
  if (L_ == nullptr) throw std::bad_alloc();
  lua_atpanic(L_, Panic);
  if (lua_cpcall(L_, Prepare, this) != 0) {
    lua_close(L_);
    throw std::bad_alloc();
  }
  // Prepare has left the values in the registry, under these numbers.
  for (int slot = 1; slot <= kSlots; ++slot) lua_rawgeti(L_, LUA_REGISTRYINDEX, slot);
}

Interpreter::~Interpreter() { lua_close(L_); }

int Interpreter::Prepare(lua_State* L) {
  OpenLuaLibraries(L);
  ReplaceProtectedCalls(L);
  lua_getglobal(L, LUA_MATHLIBNAME);
  ReplaceRandom(L);
  lua_pop(L, 1);
  OpenLibrary(L, "bit", OpenBit);
  OpenLibrary(L, "struct", OpenStruct);
  OpenLibrary(L, "cmsgpack", OpenMsgpack);
  OpenLibrary(L, "cjson", OpenJson);
  OpenLibrary(L, "redis", OpenRedis);
  KeepFieldNames(L);
  lua_pushinteger(L, 0);  // luaL_unref then needs no memory
  lua_rawseti(L, LUA_REGISTRYINDEX, 0);
  lua_pushcfunction(L, OnError);
  lua_rawseti(L, LUA_REGISTRYINDEX, kOnError);
  lua_pushcfunction(L, Guarded<Enter>);
  lua_rawseti(L, LUA_REGISTRYINDEX, kEnter);
  lua_pushcfunction(L, Guarded<Describe>);
  lua_rawseti(L, LUA_REGISTRYINDEX, kDescribe);
  ShieldGlobals(L);
  lua_getfield(L, -1, "redis");
  lua_setfield(L, -2, "server");
  lua_rawseti(L, LUA_REGISTRYINDEX, kGlobals);
  lua_sethook(L, OnCount, LUA_MASKCOUNT, kInstructionsPerLook);
  return 0;
}

// ---- compiling

int Interpreter::Compile(lua_State* L) {
  Source& source = *static_cast<Source*>(lua_touserdata(L, 1));
  // An escape at the beginning would mark a binary chunk; after a blank the escape is wrong text.
  if (source.text.starts_with(LUA_SIGNATURE[0])) {
    lua_pushliteral(L, " ");
    PushText(L, source.text);
    lua_concat(L, 2);
    source.text = TextAt(L, -1);
  }
  KeepChunkName(L, kScriptName);
  if (luaL_loadbuffer(L, source.text.data(), source.text.size(), kScriptName) != 0) return lua_error(L);
  source.function = Keep(L);
  return 0;
}

FunctionRef Interpreter::CompileScript(std::string_view text, std::string& problem) {
  Source source{.interpreter = *this, .text = text};
  if (lua_cpcall(L_, Compile, &source) == 0) return source.function;
  const char* const why = lua_tostring(L_, -1);
  problem = why != nullptr ? why : "not enough memory";
  lua_pop(L_, 1);
  CollectGarbage();
  return LUA_NOREF;
}

int Interpreter::CompileAndRun(lua_State* L) {
  Source& source = *static_cast<Source*>(lua_touserdata(L, 1));
  KeepChunkName(L, kLibraryName);
  if (luaL_loadbuffer(L, source.text.data(), source.text.size(), kLibraryName) != 0) {
    lua_pushfstring(L, "Error compiling function: %s", lua_tostring(L, -1));
    return lua_error(L);
  }
  lua_newtable(L);
  source.push_api(L);
  RequireFields(L);
  Shield(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "redis");
  lua_setfield(L, -2, "server");
  RequireFields(L);
  ShowGlobals(L);
  const int status = lua_pcall(L, 0, 0, 0);
  lua_rawgeti(L, LUA_REGISTRYINDEX, kGlobals);
  ShowGlobals(L);
  if (status == 0) return 0;
  const bool has_code = lua_istable(L, -1);
  if (has_code) lua_getfield(L, -1, "err");
  const char* const why = lua_tostring(L, -1);
  lua_pushfstring(L, "Error registering functions: %s%s", has_code ? "" : "ERR ",
                  why != nullptr ? why : "unknown error");
  return lua_error(L);
}

bool Interpreter::RunOnce(std::string_view text, void (*push_api)(lua_State*), void* loading,
                          std::string& problem) {
  constexpr uint64_t kMostUs = 500'000;
  Source source{.interpreter = *this, .text = text, .push_api = push_api};
  loading_ = loading;
  StartWatch(kMostUs, kLoadTooLong);
  const int status = lua_cpcall(L_, CompileAndRun, &source);
  const bool expired = EndWatch();
  loading_ = nullptr;
  if (status == 0) return true;
  // If reading the library's error has raised a second error, the value is a table.
  const char* const why = lua_tostring(L_, -1);
  problem = why != nullptr ? why
                           : std::string("Error registering functions: ERR ") +
                                 (expired ? kLoadTooLong : "unknown error");
  lua_pop(L_, 1);
  CollectGarbage();
  return false;
}

void Interpreter::Forget(FunctionRef function) noexcept { luaL_unref(L_, LUA_REGISTRYINDEX, function); }

// ---- calling

int Interpreter::Enter(lua_State* L) {
  Frame& frame = *static_cast<Frame*>(lua_touserdata(L, 1));
  Run& run = frame.run;
  const auto push_list = [L](std::span<const std::string_view> words) {
    lua_createtable(L, static_cast<int>(words.size()), 0);
    int index = 0;
    for (const std::string_view word : words) {
      PushText(L, word);
      lua_rawseti(L, -2, ++index);
    }
  };
  lua_rawgeti(L, LUA_REGISTRYINDEX, frame.function);
  if (run.is_eval) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, kGlobals);
    push_list(run.keys);
    lua_setfield(L, -2, "KEYS");
    push_list(run.args);
    lua_setfield(L, -2, "ARGV");
    lua_pop(L, 1);
    lua_call(L, 0, 1);
  } else {
    push_list(run.keys);
    push_list(run.args);
    lua_call(L, 2, 1);
  }
  if (lua_istable(L, -1)) {
    frame.in_buffer = true;
    WriteIntoBuffer(L, frame);
  } else {
    frame.replying = true;
    WriteValue(L, run.replies.writer().version(), *run.reply, frame.errors);
  }
  return 0;
}

// Converts a table into the buffer of the script's calls, no longer needed by the script: the conversion may take so long
// that the client is parked meanwhile, or may end by an error.
void Interpreter::WriteIntoBuffer(lua_State* L, Frame& frame) {
  ReplyBuffer& buffer = frame.run.replies;
  const int version = buffer.writer().version();
  buffer.Clear();
  buffer.writer().ForgetErrors();
  buffer.writer().set_version(frame.run.reply->version());
  buffer.set_limit(SIZE_MAX);  // the conversion has a limit of its own, and reports it to the script's client
  WriteValue(L, version, buffer.writer(), frame.errors, Of(L).server_.executor->most_reply());
}

// Writes the buffer as the reply. Errors within the reply are counted here. As in Redis, the script's call has failed once for
// each error that was counted before, and once for all others.
void Interpreter::SendBuffer(Frame& frame) {
  ReplyBuffer& buffer = frame.run.replies;
  const bool is_error = buffer.MoveTo(*frame.run.reply);
  buffer.writer().ForgetErrors();
  const WrittenErrors& errors = frame.errors;
  if (is_error) {
    frame.counted = errors.counted != 0;
    return;
  }
  frame.run.failures = errors.counted + (errors.fresh != 0 ? 1 : 0);
  server_.stats.error_replies += errors.fresh;
  try {
    for (const auto& [code, times] : errors.codes.counts()) server_.stats.errors.Count(code, times);
  } catch (const std::bad_alloc&) {  // no memory to count a new code: the error goes uncounted
  }
}

// Gives the error its place in the script: the function that raised the error, or if that is a function in C, its caller.
// Runs at the place of the error, so hooks look at the time, unless the script must end.
int Interpreter::OnError(lua_State* L) {
  lua_Debug at;
  const auto look = [L, &at](int level) {
    return lua_getstack(L, level, &at) != 0 && lua_getinfo(L, "Sl", &at) != 0;
  };
  bool found = look(1);
  if (found && std::string_view(at.what) == "C") found = look(2);
  if (!lua_istable(L, 1)) {
    lua_createtable(L, 0, 3);
    lua_pushliteral(L, "ERR ");
    PushAsText(L, 1);
    lua_concat(L, 2);
    lua_setfield(L, -2, "err");
    lua_replace(L, 1);
  }
  lua_settop(L, 1);
  const bool is_plain = lua_getmetatable(L, 1) == 0;
  lua_settop(L, 1);
  if (found && (is_plain || !StateData::Of(L).must_end)) {
    lua_pushstring(L, at.source);
    lua_setfield(L, 1, "source");
    lua_pushinteger(L, at.currentline);
    lua_setfield(L, 1, "line");
  }
  if (!is_plain) ReadErrorFields(L);
  return 1;
}

// Replaces the error at index 1, a table with functions of the script's own (__index), by a plain table: later nobody looks
// at the time, and no function of the script may run.
void Interpreter::ReadErrorFields(lua_State* L) {
  const bool must_end = StateData::Of(L).must_end;
  lua_createtable(L, 0, 4);
  for (const char* field : kErrorFields) {
    lua_pushstring(L, field);
    lua_pushvalue(L, -1);
    must_end ? lua_rawget(L, 1) : lua_gettable(L, 1);
    lua_rawset(L, 2);
  }
  lua_replace(L, 1);
}

// (error, frame): writes `error` as the reply.
int Interpreter::Describe(lua_State* L) {
  Frame& frame = *static_cast<Frame*>(lua_touserdata(L, 2));
  Run& run = frame.run;
  std::string text;
  if (!lua_istable(L, 1)) {
    constexpr size_t kMostText = 100;
    const std::string_view why = lua_type(L, 1) == LUA_TSTRING ? TextAt(L, 1) : "execution failure";
    text.append("ERR Error running script ").append(run.name).append(", ").append(why.substr(0, kMostText));
  } else {
    lua_settop(L, 1);
    for (const char* field : kErrorFields) {
      lua_pushstring(L, field);
      lua_rawget(L, 1);
    }
    const char* const error = lua_tostring(L, 2);
    const char* const source = lua_tostring(L, 3);
    const char* const line = lua_tostring(L, 4);
    text = error != nullptr ? error : "ERR unknown error";
    if (source != nullptr && line != nullptr)
      text.append(" script: ")
          .append(run.name)
          .append(", on ")
          .append(source)
          .append(":")
          .append(line)
          .append(".");
    frame.counted = lua_toboolean(L, 5) != 0;
  }
  run.reply->Error(text);
  return 0;
}

// Replies with the error on top of the stack, and pops the error.
void Interpreter::Fail(Frame& frame) {
  const bool half_replied = frame.replying;
  if (!half_replied) {
    lua_pushvalue(L_, kDescribe);
    lua_insert(L_, -2);
    lua_pushlightuserdata(L_, &frame);
    frame.no_memory = lua_pcall(L_, 2, 0, 0) != 0;
    if (frame.no_memory) lua_pop(L_, 1);
  } else {
    lua_pop(L_, 1);
  }
  CollectGarbage();
  if (half_replied && frame.run.reply->out().full()) throw OutputTooLong();
  if (half_replied || frame.no_memory) throw std::bad_alloc();
}

void Interpreter::Call(Run& run, FunctionRef function) {
  Frame frame{*this, run, function};
  run_ = &run;
  const auto most_ms = static_cast<uint64_t>(server_.options.settings().busy_reply_threshold_ms);
  StartWatch(std::min(most_ms, UINT64_MAX / kUsPerMs) * kUsPerMs, kTooLong);
  run.began = watch_.began;
  lua_pushvalue(L_, kEnter);
  lua_pushlightuserdata(L_, &frame);
  const int status = lua_pcall(L_, 1, 0, kOnError);
  run_ = nullptr;
  EndWatch();
  if (run.is_eval) DropWords();
  if (status == 0 && place_.heap.used() > LuaHeap::kMostBytes / 2) CollectGarbage();
  if (status != 0) {
    run.replies.Clear();
    static_cast<void>(
        run.session.pool().TakeFailed());  // or the next client that lacks memory would be closed
    Fail(frame);
  } else if (frame.in_buffer) {
    SendBuffer(frame);
  }
  if (!frame.counted) return;
  run.reply->ForgetErrors();
  run.failures = 1;
}

// ---- time

void Interpreter::StartWatch(uint64_t most_us, const char* error) noexcept {
  watch_ = {.began = ReadCycles(), .most_us = most_us, .error = error};
  place_.must_end = false;
}

bool Interpreter::EndWatch() noexcept {
  const bool had_large = std::exchange(largest_, 0) != 0;
  if (place_.must_end || had_large) lua_sethook(L_, OnCount, LUA_MASKCOUNT, kInstructionsPerLook);
  watch_.most_us = 0;
  return std::exchange(place_.must_end, false);
}

void Interpreter::CountLarge(size_t size) noexcept {
  constexpr size_t kMuch = size_t{1} << 20;
  largest_ = std::max(largest_, size);
  large_ += size;
  if (large_ < kMuch || L_ == nullptr || place_.must_end) return;
  large_ = 0;
  lua_sethook(L_, OnCount, LUA_MASKCOUNT, 1);
}

int Interpreter::InstructionsPerLook() const noexcept {
  const size_t times = std::clamp<size_t>(largest_ / kLarge, 1, kInstructionsPerLook);
  return kInstructionsPerLook / static_cast<int>(times);
}

void Interpreter::OnCount(lua_State* L, lua_Debug*) {
  Interpreter& interpreter = Of(L);
  Watch& watch = interpreter.watch_;
  bool& must_end = interpreter.place_.must_end;
  // Also after a call: a coroutine of a library may outlive it.
  if (const int count = interpreter.InstructionsPerLook(); !must_end && lua_gethookcount(L) != count)
    lua_sethook(L, OnCount, LUA_MASKCOUNT, count);
  if (watch.most_us == 0) return;
  const uint64_t us = interpreter.server_.cycle_rate.ToUs(ReadCycles() - watch.began);
  if (!must_end && us <= watch.most_us) return;
  if (Run* const run = interpreter.run_; !must_end && run != nullptr && run->fiber != nullptr) {
    run->fiber->Suspend();
    if (!run->killed) return;
    watch.error = kKilled;
  }
  must_end = true;
  // From now on at every instruction: the script must not go on after a pcall.
  interpreter.place_.EndIfDue(L);
  PushError(L, watch.error);
  lua_error(L);
}

void Interpreter::DropWords() noexcept {
  lua_rawgeti(L_, LUA_REGISTRYINDEX, kGlobals);
  for (const char* words : {"KEYS", "ARGV"}) {
    lua_pushstring(L_, words);
    lua_rawget(L_, -2);
    const bool are_there = !lua_isnil(L_, -1);
    lua_pop(L_, 1);
    if (!are_there) continue;
    lua_pushboolean(L_, 0);  // not nil: the field's place stays
    lua_setfield(L_, -2, words);
  }
  lua_pop(L_, 1);
}

void Interpreter::CollectGarbage() noexcept {
  const auto collect = [](lua_State* L) {
    lua_gc(L, LUA_GCCOLLECT, 0);
    return 0;
  };
  place_.heap.set_bounded(false);
  if (lua_cpcall(L_, collect, nullptr) != 0) lua_pop(L_, 1);
  place_.heap.set_bounded(true);
}

}  // namespace mayfly::script
