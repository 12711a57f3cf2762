#include <algorithm>

#include "exec/docs/command_syntax.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

// Every row of the table, subcommands too, but for commands that only tests have.
std::vector<const TableRow*> AllRows(const CommandTable& commands) {
  std::vector<const TableRow*> rows;
  for (const TableRow* row : commands.rows()) {
    if (row->group == "test") continue;
    rows.push_back(row);
    rows.insert(rows.end(), row->subcommands.begin(), row->subcommands.end());
  }
  return rows;
}

// The fewest words that the arguments stand for.
int FewestWords(const std::vector<SyntaxArgument>& arguments) {
  int sum = 0;
  for (const SyntaxArgument& argument : arguments) {
    if (argument.optional) continue;
    const bool has_token = !argument.token.empty() && argument.type != ArgumentType::kPureToken;
    int words = 1;
    if (argument.type == ArgumentType::kBlock) words = FewestWords(argument.arguments);
    if (argument.type == ArgumentType::kOneOf) {
      words = 1000;
      for (const SyntaxArgument& choice : argument.arguments) words = std::min(words, FewestWords({choice}));
    }
    sum += words + (has_token ? 1 : 0);
  }
  return sum;
}

bool HasFixedLength(const std::vector<SyntaxArgument>& arguments) {
  return std::none_of(arguments.begin(), arguments.end(),
                      [](const SyntaxArgument& argument) { return argument.optional || argument.multiple; });
}

// What redis-cli asserts of one command's documentation.
void CheckDocs(const Reply& docs) {
  REQUIRE(docs.kind == Reply::Kind::kMap);
  std::vector<std::string> names;
  for (size_t i = 0; i < docs.elements.size(); i += 2) {
    REQUIRE(docs.elements[i].kind == Reply::Kind::kBulk);
    const std::string& name = docs.elements[i].text;
    const Reply& value = docs.elements[i + 1];
    names.push_back(name);
    if (name == "arguments") {
      CHECK(value.kind == Reply::Kind::kArray);
    } else if (name == "doc_flags") {
      CHECK((value == Set({Simple("deprecated")}) || value == Set({Simple("syscmd")})));
    } else if (name == "subcommands") {
      REQUIRE(value.kind == Reply::Kind::kMap);
      for (size_t j = 0; j < value.elements.size(); j += 2) {
        CHECK(value.elements[j].kind == Reply::Kind::kBulk);
        CHECK(value.elements[j].text.find('|') != std::string::npos);
        CheckDocs(value.elements[j + 1]);
      }
    } else {
      CHECK(value.kind == Reply::Kind::kBulk);
      CHECK_FALSE(value.text.empty());
    }
  }
  for (const char* needed : {"summary", "since", "group"})
    CHECK(std::find(names.begin(), names.end(), needed) != names.end());
}

}  // namespace

TEST_CASE_METHOD(CommandTest, "COMMAND COUNT, COMMAND and COMMAND INFO agree on the number") {
  const auto count = static_cast<size_t>(Run({"COMMAND", "COUNT"}).integer);
  CHECK(count == server().commands.rows().size());
  CHECK(Run({"COMMAND"}).elements.size() == count);
  CHECK(Run({"COMMAND", "INFO"}) == Run({"COMMAND"}));
  CHECK(Run({"COMMAND", "DOCS"}).elements.size() == 2 * count);
  CHECK(Run({"COMMAND", "COUNT", "x"}) == Error("ERR wrong number of arguments for 'command|count' command"));
  CHECK(Run({"COMMAND", "HELP"}).kind == Reply::Kind::kArray);
  CHECK(Run({"COMMAND", "NOSUCH"}) == Error("ERR unknown subcommand 'NOSUCH'. Try COMMAND HELP."));
}

// The bytes of redis-server 7.0.15.
TEST_CASE_METHOD(CommandTest, "COMMAND INFO has Redis's ten elements") {
  CHECK(RunRaw("COMMAND INFO nosuch ping\r\n") ==
        "*2\r\n$-1\r\n*10\r\n$4\r\nping\r\n:-1\r\n*1\r\n+fast\r\n:0\r\n:0\r\n:0\r\n*2\r\n+@fast\r\n+@"
        "connection\r\n"
        "*2\r\n$25\r\nrequest_policy:all_shards\r\n$29\r\nresponse_policy:all_succeeded\r\n*0\r\n*0\r\n");
  UseResp3();
  CHECK(
      RunRaw("COMMAND INFO nosuch client|id\r\n") ==
      "*2\r\n_\r\n*10\r\n$9\r\nclient|id\r\n:2\r\n~3\r\n+noscript\r\n+loading\r\n+stale\r\n:0\r\n:0\r\n:0\r\n"
      "~2\r\n+@slow\r\n+@connection\r\n~0\r\n~0\r\n~0\r\n");
}

TEST_CASE_METHOD(CommandTest, "COMMAND INFO shows where the keys are and what the command does to them") {
  UseResp3();
  const Reply mget = Run({"COMMAND", "INFO", "mget"}).elements.at(0);
  CHECK(mget.elements[3] == Integer(1));
  CHECK(mget.elements[4] == Integer(-1));
  CHECK(mget.elements[5] == Integer(1));
  const Reply range =
      Map({Bulk("type"), Bulk("range"), Bulk("spec"),
           Map({Bulk("lastkey"), Integer(-1), Bulk("keystep"), Integer(1), Bulk("limit"), Integer(0)})});
  const Reply index = Map({Bulk("type"), Bulk("index"), Bulk("spec"), Map({Bulk("index"), Integer(1)})});
  CHECK(mget.elements[8] == Set({Map({Bulk("flags"), Set({Simple("RO"), Simple("access")}),
                                      Bulk("begin_search"), index, Bulk("find_keys"), range})}));
}

TEST_CASE_METHOD(CommandTest, "COMMAND DOCS has the shapes that redis-cli asserts, for every command") {
  UseResp3();
  CHECK(Run({"COMMAND", "DOCS"}).kind == Reply::Kind::kMap);
  for (const TableRow* row : AllRows(server().commands)) {
    INFO(row->full_name);
    const Reply docs = Run({"COMMAND", "DOCS", row->full_name});
    REQUIRE(docs.kind == Reply::Kind::kMap);
    REQUIRE(docs.elements.size() == 2);
    CHECK(docs.elements[0] == Bulk(row->full_name));
    CheckDocs(docs.elements[1]);
  }
  CHECK(Run({"COMMAND", "DOCS", "nosuch"}) == Map({}));
  CHECK(Run({"COMMAND", "DOCS", "nosuch", "client|id", "PING"}).elements.size() == 4);
}

TEST_CASE_METHOD(CommandTest, "COMMAND DOCS shows arguments with their types, tokens and flags") {
  UseResp3();
  const Reply docs = Run({"COMMAND", "DOCS", "mset"});
  const std::vector<Reply>& fields = docs.elements.at(1).elements;
  const auto at = std::find(fields.begin(), fields.end(), Bulk("arguments"));
  REQUIRE(at != fields.end());
  const Reply key = Map({Bulk("name"), Bulk("key"), Bulk("type"), Bulk("key"), Bulk("display_text"),
                         Bulk("key"), Bulk("key_spec_index"), Integer(0)});
  const Reply value =
      Map({Bulk("name"), Bulk("value"), Bulk("type"), Bulk("string"), Bulk("display_text"), Bulk("value")});
  CHECK(*(at + 1) == Array({Map({Bulk("name"), Bulk("key_value"), Bulk("type"), Bulk("block"), Bulk("flags"),
                                 Set({Simple("multiple")}), Bulk("arguments"), Array({key, value})})}));
}

TEST_CASE_METHOD(CommandTest, "COMMAND LIST without a filter names every command and every subcommand") {
  const std::vector<Reply> names = Run({"COMMAND", "LIST"}).elements;
  size_t rows = 0;
  for (const TableRow* row : AllRows(server().commands)) {
    ++rows;
    INFO(row->full_name);
    CHECK(std::count(names.begin(), names.end(), Bulk(row->full_name)) == 1);
  }
  CHECK(names.size() == rows);
  CHECK(rows > static_cast<size_t>(Run({"COMMAND", "COUNT"}).integer));
  CHECK(Run({"COMMAND", "LIST", "FILTERBY", "PATTERN", "*"}).elements.size() == rows);
}

TEST_CASE_METHOD(CommandTest, "COMMAND LIST filters by pattern and category, subcommands too") {
  CHECK(Run({"COMMAND", "LIST", "FILTERBY", "PATTERN", "p?ng"}) == Bulks({"ping"}));
  CHECK(Sorted(Run({"COMMAND", "LIST", "filterby", "pattern", "CONFIG*"})) ==
        Sorted(Bulks(
            {"config", "config|get", "config|help", "config|resetstat", "config|rewrite", "config|set"})));
  CHECK(Run({"COMMAND", "LIST", "FILTERBY", "ACLCAT", "connection"}).elements.size() > 10);
  CHECK(Run({"COMMAND", "LIST", "FILTERBY", "ACLCAT", "nosuch"}) == Array({}));
  CHECK(Run({"COMMAND", "LIST", "FILTERBY", "MODULE", "any"}) == Array({}));
  CHECK(Run({"COMMAND", "LIST", "FILTERBY", "FOO", "x"}) == Error("ERR syntax error"));
  CHECK(Run({"COMMAND", "LIST", "FILTERBY"}) == Error("ERR syntax error"));
  CHECK(Run({"COMMAND", "LIST", "FOO"}) == Error("ERR syntax error"));
}

TEST_CASE_METHOD(CommandTest, "every row's syntax can be read, and requires as many words as its arity") {
  for (const TableRow* row : AllRows(server().commands)) {
    INFO(row->full_name << ": " << row->command->syntax);
    const std::optional<std::vector<SyntaxArgument>> arguments = ParseSyntax(row->command->syntax);
    REQUIRE(arguments);
    if (!row->subcommands.empty()) continue;
    const int names = row->parent == nullptr ? 1 : 2;
    CHECK(names + FewestWords(*arguments) == std::abs(row->command->arity));
    // A few take words that they ignore, or refuse them by another error than that of the arity.
    if (row->command->arity > 0) CHECK(HasFixedLength(*arguments));
  }
}

TEST_CASE_METHOD(CommandTest, "every row has a summary, a version and a complexity") {
  for (const TableRow* row : AllRows(server().commands)) {
    INFO(row->full_name);
    const Command& command = *row->command;
    CHECK_FALSE(command.summary.empty());
    CHECK(command.summary.back() == '.');
    CHECK_FALSE(command.since.empty());
    CHECK_FALSE(command.complexity.empty());
    CHECK((command.handler != nullptr || !command.subcommands.empty()));
    CHECK(command.name.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string_view::npos);
  }
}

}  // namespace mayfly::testing
