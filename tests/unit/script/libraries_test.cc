#include "script/libraries/libraries.h"

#include <random>
#include <string>

#include "script/lua/lua_heap.h"
#include "support/catch.h"

namespace mayfly::script {
namespace {

// A state of Lua with the libraries, and memory that is counted.
class LibrariesTest {
 public:
  LibrariesTest() : L_(lua_newstate(Resize, &heap_)) {
    luaL_openlibs(L_);
    Open("bit", OpenBit);
    Open("struct", OpenStruct);
    Open("cmsgpack", OpenMsgpack);
    Open("cjson", OpenJson);
  }
  ~LibrariesTest() {
    lua_close(L_);
    CHECK(used_ == 0);
  }
  // What the code returns, as a text; of an error its message.
  std::string Run(const std::string& code) {
    const std::string whole = "return (function() " + code + " end)()";
    if (luaL_loadstring(L_, whole.c_str()) != 0 || lua_pcall(L_, 0, 1, 0) != 0) {
      const std::string message = lua_tostring(L_, -1);
      lua_pop(L_, 1);
      return message;
    }
    size_t size = 0;
    const char* const text = lua_tolstring(L_, -1, &size);
    const std::string result = text != nullptr ? std::string(text, size) : luaL_typename(L_, -1);
    lua_pop(L_, 1);
    return result;
  }
  uint64_t used() const noexcept { return used_; }

 private:
  static void* Resize(void* heap, void* block, size_t old_size, size_t new_size) {
    return static_cast<LuaHeap*>(heap)->Resize(block, old_size, new_size);
  }
  void Open(const char* name, void (*open)(lua_State*)) {
    open(L_);
    lua_setglobal(L_, name);
  }

  static constexpr uint64_t kMostBytes = 8 << 20;
  uint64_t used_ = 0;
  LuaHeap heap_{used_, kMostBytes};
  lua_State* L_;
};

// A table of random numbers and texts, as code.
std::string DrawTable(std::mt19937& random, int depth) {
  std::string code = "{";
  for (size_t n = random() % 5; n != 0; --n) {
    if (random() % 2 == 0) code += "['k" + std::to_string(random() % 100) + "'] = ";
    switch (random() % (depth > 0 ? 5 : 4)) {
      case 0:
        code += std::to_string(static_cast<int>(random() % 200'000) - 100'000);
        break;
      case 1:
        code += std::to_string(static_cast<int>(random() % 1000)) + ".5";
        break;
      case 2:
        code += "'" + std::string(random() % 300, static_cast<char>('a' + random() % 26)) + "'";
        break;
      case 3:
        code += random() % 2 == 0 ? "true" : "false";
        break;
      default:
        code += DrawTable(random, depth - 1);
    }
    code += ", ";
  }
  return code + "}";
}

constexpr const char* kSame =
    "local same; same = function(a, b) if type(a) ~= 'table' then return a == b end "
    "for k, v in pairs(a) do if not same(v, b[k]) then return false end end return true end ";

}  // namespace

TEST_CASE_METHOD(LibrariesTest, "what was packed or encoded is read back as it was") {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    const std::string table = DrawTable(random, 3);
    CAPTURE(table);
    CHECK(Run(kSame + ("local a = " + table) +
              " local b = cmsgpack.unpack(cmsgpack.pack(a)) return tostring(same(a, b) and same(b, a))") ==
          "true");
  }
}

TEST_CASE_METHOD(LibrariesTest, "an error that passes a library leaves no memory behind") {
  for (const char* code :
       {"cjson.encode({string.rep('x', 1e5), print})", "cjson.decode('[\"' .. string.rep('x', 1e5))",
        "cmsgpack.unpack('\\145' .. string.rep('\\145', 1e6))", "cmsgpack.pack(string.rep('x', 5e6))",
        "struct.pack('s', string.rep('x', 5e6))", "struct.pack('si', string.rep('x', 1e5), 'text')"}) {
    CAPTURE(code);
    Run(code);  // Lua keeps its stack and buffers for the next time
    Run("collectgarbage() collectgarbage()");
    const uint64_t before = used();
    for (int i = 0; i < 5; ++i) CHECK(Run(code) != "nil");
    Run("collectgarbage() collectgarbage()");
    CHECK(used() < before + 50'000);
  }
}

TEST_CASE_METHOD(LibrariesTest, "memory is taken up to the bound and not beyond it") {
  CHECK(Run("return string.rep('x', 5e6) .. 'y'") == "not enough memory");
  CHECK(Run("return #cjson.encode(string.rep('\\1', 1e6))") == "not enough memory");
  CHECK(Run("collectgarbage() return #cjson.encode(string.rep('x', 2e5))") == "200002");
}

TEST_CASE_METHOD(LibrariesTest, "bits wrap around at 32") {
  CHECK(Run("return bit.tobit(2^31)") == "-2147483648");
  CHECK(Run("return bit.tohex(bit.bxor(0xF0F0F0F0, 0xFFFFFFFF))") == "0f0f0f0f");
  CHECK(Run("return bit.rol(1, 32)") == "1");
}

TEST_CASE_METHOD(LibrariesTest, "a structure may hold every kind of field") {
  CHECK(Run("return struct.unpack('<I3', '\\1\\2\\3')") == "197121");
  CHECK(Run("return struct.unpack('>i8', struct.pack('>i8', -5))") == "-5");
  CHECK(Run("return struct.size('!8bi!4d')") == "16");
}

}  // namespace mayfly::script
