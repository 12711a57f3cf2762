// The table of crossings is complete: each command, option and section of the manual that is about keys has a row, or it is said
// here why it has none.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "config/option.h"
#include "crossings/table.h"
#include "exec/call/command_table.h"

namespace mayfly::testing::crossings {
namespace {

struct Without {
  std::string_view names;  // between spaces; "tls-*": all that begin so
  std::string_view why;
};

// Options that change neither a key nor what goes with it.
constexpr Without kOptionsWithoutRow[] = {
    {"bind port tcp-backlog unixsocket unixsocketperm tcp-keepalive timeout protected-mode tls-*", "sockets"},
    {"requirepass user aclfile acllog-max-len acl-pubsub-default rename-command enable-debug-command",
     "users"},
    {"metrics-*", "a page beside the keys"},
    {"maxclients proto-max-bulk-len client-query-buffer-limit client-output-buffer-limit maxmemory-clients "
     "busy-reply-threshold tracking-table-max-keys notify-keyspace-events",
     "clients"},
    {"databases", "which databases there are: a load refuses a file with others"},
    {"huge-pages activedefrag active-defrag-*", "where in memory keys lie"},
    {"shards cluster-*", "which node has a key"},
    {"shutdown-timeout shutdown-on-sigterm shutdown-on-sigint crash-log-enabled supervised", "the process"},
    {"expire-resolution-ms expire-slice-us", "when keys that are due are freed, not which"},
    {"save dbfilename rdbcompression rdbchecksum stop-writes-on-bgsave-error load-mode rdb-skip-unknown "
     "rdb-load-damaged dir",
     "the files of the columns"},
    {"replicaof masterauth masteruser replica-* repl-* min-replicas-*", "the links of the columns"},
    {"pidfile logfile loglevel syslog-* slowlog-* latency-*", "what is said of the server"},
};

// Sections of caching.md, lifetimes.md and memory.md without a feature of their own.
constexpr Without kSectionsWithoutRow[] = {
    {"contents limits", "of every page"},
    {"what-ends-a-lease renew-a-value-before-its-deadline callers-and-connections "
     "many-callers-on-one-connection take-from-your-language",
     "more of leases"},
    {"how-commands-change-a-deadline read-a-value-and-the-ttl", "a table of other rows"},
    {"hear-of-keys-at-their-deadline", "clients hear; the keys are those of expiry on time"},
    {"misses-by-policy how-s3-fifo-and-sieve-choose", "which key is evicted"},
    {"rules-of-namespaces", "more of namespaces"},
    {"memory-in-a-container fragmentation huge-pages memory-beside-maxmemory", "memory, not keys"},
};

// The words of SET, EXPIRE and GETEX in Redis 8.
constexpr std::string_view kRedisWords =
    "NX XX GT LT IFEQ IFNE IFDEQ IFDNE GET EX PX EXAT PXAT KEEPTTL PERSIST";

std::set<std::string> WordsIn(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::set<std::string> words;
  for (std::string word; stream >> word;) words.insert(word);
  return words;
}

bool Names(std::span<const Without> lists, std::string_view name) {
  for (const Without& list : lists) {
    for (const std::string& word : WordsIn(list.names)) {
      if (word == name) return true;
      if (word.ends_with('*') && name.starts_with(word.substr(0, word.size() - 1))) return true;
    }
  }
  return false;
}

std::set<std::string> Covered() {
  std::set<std::string> covered;
  for (const Feature* feature : Features()) covered.merge(WordsIn(feature->covers));
  return covered;
}

std::string Upper(std::string_view text) {
  std::string upper;
  for (const char c : text) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

// Of "key [EX seconds | KEEPTTL]": EX and KEEPTTL.
std::set<std::string> TokensOf(std::string_view syntax) {
  std::set<std::string> tokens;
  std::string token;
  for (const char c : std::string(syntax) + " ") {
    if (std::isupper(static_cast<unsigned char>(c)) != 0) {
      token += c;
      continue;
    }
    if (token.size() > 1) tokens.insert(token);
    token.clear();
  }
  return tokens;
}

std::string FileText(const std::string& path) {
  std::ifstream file(path);
  INFO(path);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

// The headings of the second and third level, as a link names them.
std::set<std::string> SectionsOf(const std::string& page) {
  std::istringstream lines(FileText(std::string(MAYFLY_DOCS) + "/" + page));
  std::set<std::string> sections;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("## ") && !line.starts_with("### ")) continue;
    std::string section;
    for (const char c : line.substr(line.find(' ') + 1)) {
      if (c == ' ') section += '-';
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-')
        section += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    sections.insert(section);
  }
  return sections;
}

// The table of tests/README.md.
std::string TableMarkdown() {
  std::string text = "| |";
  std::string line = "|---|";
  for (const ColumnName& column : kColumns) {
    text.append(" ").append(column.name).append(" |");
    line += "---|";
  }
  text += "\n" + line + "\n";
  for (const Feature* feature : Features()) {
    text.append("| ").append(feature->name).append(" |");
    for (const ColumnName& column : kColumns) {
      const bool has_cell =
          feature->no_cells.empty() &&
          std::ranges::find(feature->none, column.column, &Mark::column) == feature->none.end();
      text += has_cell ? " x |" : " |";
    }
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("every command that only Mayfly has belongs to a row of the table of crossings") {
  const std::set<std::string> covered = Covered();
  const CommandTable commands;
  for (const TableRow* row : commands.rows()) {
    if (row->group == "test" || row->parent != nullptr) continue;
    const bool is_ours = row->command->since.starts_with("0.") ||
                         row->command->notes.find("A command of Mayfly") != std::string_view::npos;
    CAPTURE(row->full_name);
    if (is_ours) CHECK(covered.contains(Upper(row->full_name)));
  }
  for (const std::string& word : covered) {
    const bool is_a_word = WordsIn("JITTER SLIDE MAX STALE TAGS INTO MAXLEN IFLEASE").contains(word);
    CAPTURE(word);
    CHECK((is_a_word || commands.Find(word) != nullptr));
  }
}

TEST_CASE(
    "every word of SET, EXPIRE and GETEX that only Mayfly has belongs to a row of the table of crossings") {
  const std::set<std::string> covered = Covered();
  const std::set<std::string> others = WordsIn(kRedisWords);
  const CommandTable commands;
  for (const char* name : {"set", "expire", "pexpire", "expireat", "getex"}) {
    for (const std::string& token : TokensOf(commands.Find(name)->command->syntax)) {
      CAPTURE(name, token);
      CHECK((covered.contains(token) || others.contains(token)));
    }
  }
}

TEST_CASE("every option has a row in the table of crossings, or a reason why it has none") {
  std::set<std::string> in_rows;
  for (const Feature* feature : Features())
    for (const Words& option : feature->options) in_rows.insert(option[0]);
  for (const config::Option& option : config::MayflyOptions()) {
    CAPTURE(option.name);
    CHECK((in_rows.contains(std::string(option.name)) != Names(kOptionsWithoutRow, option.name)));
  }
}

TEST_CASE("every section of the manual about keys has a row in the table of crossings, or a reason") {
  std::set<std::string> named;
  for (const Feature* feature : Features()) {
    const std::string section(feature->section);
    const size_t at = section.find('#');
    CAPTURE(section);
    REQUIRE(at != std::string::npos);
    CHECK(SectionsOf(section.substr(0, at)).contains(section.substr(at + 1)));
    named.insert(section);
  }
  for (const std::string page : {"caching.md", "lifetimes.md", "memory.md"}) {
    for (const std::string& section : SectionsOf(page)) {
      CAPTURE(page, section);
      CHECK((named.contains(page + "#" + section) || Names(kSectionsWithoutRow, section)));
    }
  }
}

TEST_CASE("a row of the table of crossings has a cell in each column, or a reason") {
  std::set<std::string_view> names;
  for (const Feature* feature : Features()) {
    CAPTURE(feature->name);
    CHECK(names.insert(feature->name).second);
    const bool has_cells = feature->make != nullptr && feature->check != nullptr;
    CHECK(has_cells == feature->no_cells.empty());
    for (const Mark& mark : feature->none) CHECK(mark.why.size() > 10);
    CHECK(feature->none.size() < std::size(kColumns));
  }
}

// The part of the page between the two marks is what this test shows when it fails.
TEST_CASE("the page of the tests shows the table of crossings") {
  const std::string page = FileText(std::string(MAYFLY_DOCS) + "/../tests/README.md");
  const std::string first = "<!-- crossings: from the rows in tests/crossings -->\n";
  const size_t begin = page.find(first);
  const size_t end = page.find("<!-- end of crossings -->");
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  CHECK("\n" + page.substr(begin + first.size(), end - begin - first.size()) == "\n" + TableMarkdown());
}

}  // namespace mayfly::testing::crossings
