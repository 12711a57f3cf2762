// The bridge between Lua and the rest: replies to values and back, JSON, MessagePack, structures. Any bytes are read
// or refused, within the memory that a state may take, and what was read is written and read back as the same.
//
// The first byte of a test case says which part it is for; the rest is what that reads.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/memory/output.h"
#include "exec/call/reply_buffer.h"
#include "script/libraries/libraries.h"
#include "script/lua/lua_heap.h"
#include "script/reply_values.h"

namespace mayfly::script {
namespace {

constexpr uint64_t kMostBytes = 32 << 20;

void* Resize(void* heap, void* block, size_t old_size, size_t new_size) {
  return static_cast<LuaHeap*>(heap)->Resize(block, old_size, new_size);
}

// What each part does with the text that it gets.
constexpr const char* kParts[] = {
    // What was decoded can be encoded, but for numbers that JSON lacks, and is then decoded as the same text.
    "local text = ... local value = cjson.decode(text) local ok, once = pcall(cjson.encode, value) "
    "if ok then assert(cjson.encode(cjson.decode(once)) == once or once:find('%[') or once:find('{')) end",
    "local text = ... local count = select('#', cmsgpack.unpack(text)) assert(count == 0 or "
    "select('#', cmsgpack.unpack(cmsgpack.pack(cmsgpack.unpack(text)))) == count)",
    "local text = ... cmsgpack.unpack_one(text, 1) cmsgpack.unpack_limit(text, 3, 2)",
    "local text = ... local format, data = text:match('^(.-)\\n(.*)$') struct.unpack(format, data) ",
    "local text = ... struct.size(text)",
    "local text = ... struct.pack(text, 1, 2.5, 'three', 4, '5', 6, 7)",
};
constexpr size_t kPartCount = sizeof kParts / sizeof *kParts;

void RunPart(lua_State* L, const char* part, std::string_view text) {
  if (luaL_loadstring(L, part) != 0) std::abort();
  PushText(L, text);
  if (lua_pcall(L, 1, 0, 0) == 0) return;
  const std::string_view error = lua_isstring(L, -1) != 0 ? lua_tostring(L, -1) : "";
  if (error.find("assertion failed") != std::string_view::npos) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(error.size()), error.data());
    std::abort();
  }
}

// Whether a complete reply is at the front.
bool HoldsReply(std::string_view text) {
  resp::ReplyReader reader(text);
  resp::ReplyToken token;
  return reader.Next(token) == resp::ReplyStatus::kToken && reader.Skip(token) == resp::ReplyStatus::kToken;
}

struct Conversion {
  std::string_view text;
  int version;
  resp::Writer& to;
};

int Convert(lua_State* L) {
  auto& conversion = *static_cast<Conversion*>(lua_touserdata(L, 1));
  resp::ReplyReader reader(conversion.text);
  PushReply(L, reader, conversion.version);
  WrittenErrors errors;
  WriteValue(L, conversion.version, conversion.to, errors);
  return 0;
}

void ConvertReply(lua_State* L, std::string_view text, int version) {
  if (!HoldsReply(text)) return;
  ChunkPool pool;
  ReplyBuffer written(pool, version);
  Conversion conversion{text, version, written.writer()};
  if (lua_cpcall(L, Guarded<Convert>, &conversion) != 0) return;
  if (!HoldsReply(written.Text())) std::abort();
}

}  // namespace
}  // namespace mayfly::script

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mayfly::script;
  if (size == 0) return 0;
  uint64_t used = 0;
  {
    LuaHeap heap(used, kMostBytes);
    lua_State* const L = lua_newstate(Resize, &heap);
    luaL_openlibs(L);
    KeepFieldNames(L);
    OpenStruct(L);
    lua_setglobal(L, "struct");
    OpenMsgpack(L);
    lua_setglobal(L, "cmsgpack");
    OpenJson(L);
    lua_setglobal(L, "cjson");
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const size_t part = data[0] % (kPartCount + 2);
    part < kPartCount ? RunPart(L, kParts[part], text) : ConvertReply(L, text, part == kPartCount ? 2 : 3);
    lua_close(L);
  }
  if (used != 0) std::abort();
  return 0;
}
