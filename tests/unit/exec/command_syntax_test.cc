#include "exec/docs/command_syntax.h"

#include "support/catch.h"

namespace mayfly {
namespace {

// The tree as text: "name:type", with a token before '=', '?' for optional, '*' for multiple, and inner
// arguments in braces.
std::string Shown(const std::vector<SyntaxArgument>& arguments) {
  std::string text;
  for (const SyntaxArgument& argument : arguments) {
    if (!text.empty()) text += " ";
    if (!argument.token.empty()) text += argument.token + "=";
    text += argument.name + ":" + std::string(NameOf(argument.type));
    if (argument.optional) text += "?";
    if (argument.multiple) text += "*";
    if (!argument.arguments.empty()) text += "{" + Shown(argument.arguments) + "}";
  }
  return text;
}

std::string Parsed(std::string_view syntax) {
  const std::optional<std::vector<SyntaxArgument>> parsed = ParseSyntax(syntax);
  return parsed ? Shown(*parsed) : "nothing";
}

}  // namespace

TEST_CASE("a value's type follows from its name") {
  CHECK(Parsed("") == "");
  CHECK(Parsed("key value") == "key:key value:string");
  CHECK(Parsed("key1 destkey bit float integer") ==
        "key1:key destkey:key bit:integer float:double integer:integer");
  CHECK(Parsed("key seconds pattern unix-time-seconds cursor") ==
        "key:key seconds:integer pattern:pattern unix-time-seconds:unix-time cursor:integer");
}

TEST_CASE("two quotes are an empty argument") {
  CHECK(Parsed("<key | \"\"> [COPY]") ==
        "option:oneof{key:key empty_string:pure-token} COPY=copy:pure-token?");
}

TEST_CASE("brackets make arguments optional") {
  CHECK(Parsed("[message]") == "message:string?");
  CHECK(Parsed("[username] password") == "username:string? password:string");
  CHECK(Parsed("[NOW] [FORCE]") == "NOW=now:pure-token? FORCE=force:pure-token?");
}

TEST_CASE("a token belongs to the value after it") {
  CHECK(Parsed("cursor [MATCH pattern] [COUNT count]") ==
        "cursor:integer MATCH=pattern:pattern? COUNT=count:integer?");
  CHECK(Parsed("[LIMIT offset count]") == "LIMIT=limit:block?{offset:integer count:integer}");
  CHECK(Parsed("[protover [AUTH username password] [SETNAME clientname]]") ==
        "protover_auth_clientname:block?{protover:integer AUTH=auth:block?{username:string password:string} "
        "SETNAME=clientname:string?}");
}

TEST_CASE("bars separate choices") {
  CHECK(Parsed("key [NX|XX]") == "key:key condition:oneof?{NX=nx:pure-token XX=xx:pure-token}");
  CHECK(Parsed("key [EX seconds | PX milliseconds | KEEPTTL]") ==
        "key:key expiration:oneof?{EX=seconds:integer PX=milliseconds:integer KEEPTTL=keepttl:pure-token}");
  CHECK(Parsed("[FILTERBY <MODULE module-name | PATTERN pattern>]") ==
        "FILTERBY=filterby:oneof?{MODULE=module-name:string PATTERN=pattern:pattern}");
  CHECK(Parsed("ON|OFF [NOLOOP]") ==
        "condition:oneof{ON=on:pure-token OFF=off:pure-token} NOLOOP=noloop:pure-token?");
}

TEST_CASE("choices that compare are called condition, with or without bare words among them") {
  CHECK(Parsed("[NX | IFEQ ifeq-value]") == "condition:oneof?{NX=nx:pure-token IFEQ=ifeq-value:string}");
  CHECK(Parsed("[IFEQ ifeq-value | IFNE ifne-value]") ==
        "condition:oneof?{IFEQ=ifeq-value:string IFNE=ifne-value:string}");
}

TEST_CASE("a choice with choices inside may be left out and repeated") {
  CHECK(Parsed("key [GET encoding offset | [OVERFLOW <WRAP | SAT>] <SET encoding offset value | "
               "INCRBY encoding offset increment>] ...") ==
        "key:key option:oneof?*{GET=get:block{encoding:string offset:integer} "
        "overflow_option:block{OVERFLOW=overflow:oneof?{WRAP=wrap:pure-token SAT=sat:pure-token} "
        "option:oneof{SET=set:block{encoding:string offset:integer value:string} "
        "INCRBY=incrby:block{encoding:string offset:integer increment:integer}}}}");
}

TEST_CASE("a repeated argument is listed once, as multiple") {
  CHECK(Parsed("key [key ...]") == "key:key*");
  CHECK(Parsed("key value [key value ...]") == "key_value:block*{key:key value:string}");
  CHECK(Parsed("[section [section ...]]") == "section:string?*");
  CHECK(Parsed("[ID client-id [client-id ...]]") == "ID=client-id:integer?*");
  CHECK(Parsed("name [argument ...]") == "name:string argument:string?*");
}

TEST_CASE("broken syntax is refused") {
  for (const char* syntax : {"[key", "key]", "<a | b", "[a >", "| a", "a |", "[]", "...", "[a | ]"}) {
    INFO(syntax);
    CHECK(Parsed(syntax) == "nothing");
  }
}

}  // namespace mayfly
