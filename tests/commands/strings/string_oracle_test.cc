// Sessions of string and bitmap commands that a real redis-server answers as well: the bytes must be the
// same, in both protocols. They are drawn so that they meet: few keys, offsets and numbers near every limit.
#include <random>

#include "support/beside_redis.h"

namespace mayfly::testing {
namespace {

class StringsBesideRedis : public BesideRedis {
 public:
  StringsBesideRedis() : BesideRedis({"--proto-max-bulk-len", "1mb"}) {
    SetOption("proto-max-bulk-len", "1mb");
  }
};

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  size_t Below(size_t count) { return random_() % count; }
  template <size_t kCount>
  std::string Of(const char* const (&texts)[kCount]) {
    return texts[Below(kCount)];
  }
  std::string Key() { return Of({"a", "b", "c", "d", ""}); }
  std::string Integer() {
    if (Below(2) == 0) return std::to_string(static_cast<int>(Below(220)) - 20);
    return Of({"0", "-1", "8388607", "8388608", "1048576", "9223372036854775807", "-9223372036854775807", "x",
               "", "1.5", "01", "99999999999999999999"});
  }
  std::string Float() {
    if (Below(2) == 0) return std::to_string(static_cast<double>(Below(2'000'000)) / 997 - 1000);
    return Of(
        {"0.1", "-1e-17", "1e21", "3e3", "inf", "nan", "1e4932", "1e-5000", "0x1p3", ".5", " 1", "", "-0"});
  }
  std::string Value() {
    switch (Below(6)) {
      case 0:
        return Integer();
      case 1:
        return Float();
      case 2:
        return std::string(Below(3) == 0 ? 20'000 : Below(40), Below(2) == 0 ? '\xff' : '\0');
      default: {
        std::string value(Below(60), ' ');
        for (char& c : value) c = static_cast<char>(Below(4) == 0 ? random_() : 'a' + Below(3));
        return value;
      }
    }
  }
  std::string FieldType() {
    if (Below(10) == 0) return Of({"i0", "u64", "i65", "x8", "", "I8"});
    return Of({"i", "u"}) + std::to_string(1 + Below(63));
  }
  // Not far below zero: there Redis 7.0 takes the wrong end of a signed field that saturates.
  std::string FieldValue() {
    return Below(2) == 0 ? Of({"9223372036854775807", "x", "-1000", "77777"}) : Integer();
  }
  std::string FieldOffset() { return Below(3) == 0 ? "#" + std::to_string(Below(30)) : Integer(); }

 private:
  std::mt19937_64 random_;
};

Words RangeRequest(Draw& draw) {
  switch (draw.Below(5)) {
    case 0:
      return {"GETRANGE", draw.Key(), draw.Integer(), draw.Integer()};
    case 1:
      return {"SUBSTR", draw.Key(), draw.Integer(), draw.Integer()};
    case 2:
      return {"SETRANGE", draw.Key(), draw.Integer(), draw.Value()};
    case 3:
      return {"APPEND", draw.Key(), draw.Value()};
    default:
      return {"GETSET", draw.Key(), draw.Value()};
  }
}

Words NumberRequest(Draw& draw) {
  switch (draw.Below(4)) {
    case 0:
      return {"INCRBY", draw.Key(), draw.Integer()};
    case 1:
      return {"MSETNX", draw.Key(), draw.Value(), draw.Key(), draw.Value()};
    default:
      return {"INCRBYFLOAT", draw.Key(), draw.Float()};
  }
}

Words LcsRequest(Draw& draw) {
  Words words{"LCS", draw.Key(), draw.Key()};
  if (draw.Below(2) == 0) words.emplace_back("IDX");
  if (draw.Below(4) == 0) words.emplace_back("LEN");
  if (draw.Below(3) == 0) words.emplace_back("WITHMATCHLEN");
  if (draw.Below(3) == 0) words.insert(words.end(), {"MINMATCHLEN", draw.Integer()});
  return words;
}

// With a range only where the key is there: Redis 7.0 answers 0 for an absent one before it looks at anything
// else, and for a range that runs back from the end before it looks at the unit.
Words BitRequest(Draw& draw) {
  switch (draw.Below(6)) {
    case 0:
      return {"SETBIT", draw.Key(), draw.Integer(), draw.Of({"0", "1", "1", "2"})};
    case 1:
      return {"GETBIT", draw.Key(), draw.Integer()};
    case 2:
      return {"BITCOUNT", "there", draw.Integer(), draw.Integer(), draw.Of({"BIT", "byte"})};
    case 3:
      return {"BITPOS",       "there",        draw.Of({"0", "1", "2"}),
              draw.Integer(), draw.Integer(), draw.Of({"bit", "BYTE", "x"})};
    case 4:
      return {"BITPOS", draw.Key(), draw.Of({"0", "1"})};
    default:
      return {"BITOP",
              draw.Of({"AND", "or", "XOR", "NAND"}),
              draw.Of({"a", "b", "there"}),
              draw.Key(),
              draw.Key(),
              "there"};
  }
}

Words FieldRequest(Draw& draw) {
  Words words{draw.Of({"BITFIELD", "BITFIELD", "BITFIELD_RO"}), draw.Key()};
  for (size_t i = draw.Below(5); i > 0; --i) {
    switch (draw.Below(4)) {
      case 0:
        words.insert(words.end(), {"OVERFLOW", draw.Of({"SAT", "WRAP", "fail"})});
        break;
      case 1:
        words.insert(words.end(), {"SET", draw.FieldType(), draw.FieldOffset(), draw.FieldValue()});
        break;
      case 2:
        words.insert(words.end(), {"INCRBY", draw.FieldType(), draw.FieldOffset(), draw.FieldValue()});
        break;
      default:
        words.insert(words.end(), {"GET", draw.FieldType(), draw.FieldOffset()});
    }
  }
  return words;
}

Words NextRequest(Draw& draw) {
  switch (draw.Below(8)) {
    case 0:
      return {"GET", draw.Key()};
    case 1:
      return {"OBJECT", "ENCODING", draw.Key()};
    case 2:
      return {"SET", draw.Of({"a", "b", "there"}), draw.Value()};
    case 3:
      return NumberRequest(draw);
    case 4:
      return LcsRequest(draw);
    case 5:
      return BitRequest(draw);
    case 6:
      return FieldRequest(draw);
    default:
      return RangeRequest(draw);
  }
}

}  // namespace

TEST_CASE_METHOD(StringsBesideRedis, "string and bitmap commands answer what Redis answers") {
  constexpr unsigned kSeed = 20261121;
  constexpr int kBatches = 60;
  constexpr int kBatch = 50;
  CAPTURE(kSeed);
  Draw draw(kSeed);
  Compare({{"SET", "there", "foobar"}}, 2);
  for (int batch = 0; batch < kBatches; ++batch) {
    std::vector<Words> requests;
    for (int i = 0; i < kBatch; ++i) requests.push_back(NextRequest(draw));
    Compare(requests, batch % 2 == 0 ? 2 : 3);
  }
}

TEST_CASE_METHOD(StringsBesideRedis, "INCRBYFLOAT sums as Redis does") {
  constexpr unsigned kSeed = 17;
  CAPTURE(kSeed);
  Draw draw(kSeed);
  std::vector<Words> requests;
  for (int i = 0; i < 2'000; ++i) {
    if (i % 5 == 0) requests.push_back({"SET", "n", draw.Float()});
    requests.push_back({"INCRBYFLOAT", "n", draw.Float()});
  }
  Compare(requests, 2);
}

}  // namespace mayfly::testing
