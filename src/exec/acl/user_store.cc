#include "exec/acl/user_store.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/log/log.h"
#include "config/sources/files.h"
#include "config/sources/options.h"
#include "config/words.h"
#include "exec/acl/user_changes.h"
#include "server/acl/user.h"
#include "server/acl/users.h"

namespace mayfly {
namespace {

bool AllChannels(const Server& server) noexcept {
  return server.options.settings().acl_pubsub_default == config::PubSubDefault::kAllChannels;
}

constexpr std::string_view kNoAclFile =
    "This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL "
    "SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in "
    "order to store users in the Redis configuration.";

// Reads an aclfile and collects all errors in the file, in Redis's words.
class FileReader {
 public:
  FileReader(const Server& server, const std::string& path) : server_(server), path_(path) {}

  void Read(std::string_view text) {
    for (size_t number = 1; !text.empty(); ++number) {
      const size_t end = std::min(text.find('\n'), text.size());
      place_ = path_ + ":" + std::to_string(number);
      ReadLine(Trim(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  const std::string& errors() const noexcept { return errors_; }
  std::vector<User> TakeUsers() noexcept { return std::move(users_); }

 private:
  static std::string_view Trim(std::string_view text) noexcept {
    constexpr std::string_view kBlanks = "\r\n\t ";
    const size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
  }

  void ReadLine(std::string_view line) {
    if (line.empty()) return;
    const std::vector<std::string> words = config::SplitAtSpaces(std::string(line));
    if (words.size() < 2 || words[0] != "user") {
      errors_ += place_ + " should start with user keyword followed by the username. ";
      return;
    }
    if (HasSpaces(words[1])) {
      errors_ += place_ + ": username '" + words[1] + "' contains invalid characters. ";
      return;
    }
    const auto same = [&](const User& user) { return user.name() == words[1]; };
    if (std::any_of(users_.begin(), users_.end(), same)) {
      errors_ += "WARNING: Duplicate user '" + words[1] + "' found on line " +
                 place_.substr(path_.size() + 1) + ". ";
      return;
    }
    users_.emplace_back(words[1], server_.users.catalogue(), AllChannels(server_));
    ReadRules({words.begin() + 2, words.end()});
  }

  // Of several errors in one line, all errors about unknown commands are reported; of other errors only the first, because a
  // second may be a consequence.
  void ReadRules(const std::vector<std::string_view>& words) {
    const MergedRules merged = MergeSelectors(words);
    if (merged.unmatched) {
      errors_ += place_ + ": Unmatched parenthesis in selector definition. ";
      return;
    }
    bool told = false;
    for (const std::string& rule : merged.rules) {
      const RuleError error = users_.back().Apply(Trim(rule), AllChannels(server_));
      if (error == RuleError::kNone) continue;
      const std::string text = std::string(TextOf(error)) + ". ";
      if (error == RuleError::kUnknownCommand) {
        errors_.append(place_)
            .append(": Error in applying operation '")
            .append(rule)
            .append("': ")
            .append(text);
      } else if (!told) {
        errors_ += place_ + ": " + text;
        told = true;
      }
    }
  }

  const Server& server_;
  const std::string& path_;
  std::string place_;
  std::string errors_;
  std::vector<User> users_;
};

void AddDefaultIfMissing(const Server& server, std::vector<User>& users) {
  const auto is_default = [](const User& user) { return user.name() == User::kDefaultName; };
  if (std::none_of(users.begin(), users.end(), is_default))
    users.push_back(Users::MakeDefault(server.users.catalogue()));
}

// A user by a line of the conf file.
config::Problem ReadUser(const Server& server, const config::UserLine& line, User& user) {
  if (line.name == User::kDefaultName && user.Apply("reset", AllChannels(server)) != RuleError::kNone)
    return line.blame;
  if (HasSpaces(line.name)) return line.blame + ": Spaces not allowed in ACL usernames";
  const std::vector<std::string_view> words(line.rules.begin(), line.rules.end());
  const MergedRules merged = MergeSelectors(words);
  if (merged.unmatched)
    return line.blame + ": Unmatched parenthesis in acl selector starting at '" +
           config::Printable(words[merged.unmatched_index]) + "'.";
  for (const std::string& rule : merged.rules) {
    const RuleError error = user.Apply(rule, AllChannels(server));
    if (error == RuleError::kNone) continue;
    // Only commands and categories are surely no secrets.
    const std::string shown = error == RuleError::kUnknownCommand ? " '" + config::Printable(rule) + "'" : "";
    return line.blame + ": Error in user declaration" + shown + ": " + std::string(TextOf(error));
  }
  return std::nullopt;
}

// A word for a line of the conf file, in quotes if the plain word could not be read back.
std::string ConfWord(std::string_view word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return c > ' ' && c <= '~' && c != '"' && c != '\'' && c != '\\';
  });
  return plain ? std::string(word) : config::QuoteWord(word);
}

// True if the user in force equals the line, or if the user was never in force.
bool StaysAs(const Server& server, const config::UserLine& line) {
  const User* const user = server.users.Find(line.name);
  if (user == nullptr) {
    const std::vector<config::UserLine>& begun_with = server.options.settings().users;
    return std::none_of(begun_with.begin(), begun_with.end(),
                        [&](const config::UserLine& other) { return other.name == line.name; });
  }
  User said(line.name, server.users.catalogue(), AllChannels(server));
  return !ReadUser(server, line, said) && said.Describe() == user->Describe();
}

}  // namespace

config::Problem LoadUsersAtStart(Server& server) {
  const config::Settings& settings = server.options.settings();
  if (!settings.aclfile.empty()) {
    if (!settings.users.empty())
      return "Configuring Mayfly with users defined in its options and at the same setting an ACL file path "
             "is invalid. This setup is very likely to lead to configuration errors and security holes, "
             "please define either an ACL file or declare users directly in your options, but not both.";
    if (!settings.requirepass.empty() && server.log != nullptr)
      server.log->Warning(
          "requirepass has no effect beside an aclfile, which says what the default user's password is");
    if (config::Problem problem = LoadAclFile(server, nullptr))
      return "Aborting startup because of ACL errors: " + *problem;
    return std::nullopt;
  }
  std::string problems;
  for (const config::UserLine& line : settings.users) {
    User user(line.name, server.users.catalogue(), AllChannels(server));
    if (const config::Problem problem = ReadUser(server, line, user)) {
      problems.append(problems.empty() ? "" : "\n").append(*problem);
      continue;
    }
    if (!user.enabled() && server.log != nullptr)
      server.log->Warning("the user '", config::Printable(line.name), "' is disabled: its line has no 'on'");
    PutUser(server, std::move(user), nullptr);
  }
  if (problems.empty()) return std::nullopt;
  return problems;
}

config::Problem LoadAclFile(Server& server, const Session* running) {
  const std::string& path = server.options.settings().aclfile;
  if (path.empty()) return std::string(kNoAclFile);
  std::string text;
  if (const config::Problem problem = server.options.files().read_again(path, text)) {
    // As in Redis: the path stands before the reason.
    const size_t reason = problem->rfind(": ");
    return "Error loading ACLs, opening file '" + path + "'" +
           (reason == std::string::npos ? ": " + *problem : problem->substr(reason));
  }
  FileReader reader(server, path);
  reader.Read(text);
  if (!reader.errors().empty())
    return reader.errors() +
           "WARNING: ACL errors detected, no change to the previously active ACL rules was performed";
  std::vector<User> users = reader.TakeUsers();
  AddDefaultIfMissing(server, users);
  ReplaceUsers(server, std::move(users), running);
  return std::nullopt;
}

config::Problem SaveAclFile(const Server& server) {
  const std::string& path = server.options.settings().aclfile;
  if (path.empty()) return std::string(kNoAclFile);
  std::string text;
  for (const auto& [name, user] : server.users.by_name())
    text.append("user ").append(name).append(" ").append(user->Describe()).append("\n");
  const config::Problem problem = server.options.files().put(path, text);
  if (!problem) return std::nullopt;
  if (server.log != nullptr) server.log->Warning("ACL SAVE: ", *problem);
  return "There was an error trying to save the ACLs. Please check the server logs for more information";
}

config::Problem UserLines(const Server& server, std::vector<std::string>& lines) {
  if (!server.options.settings().aclfile.empty()) return std::nullopt;
  std::vector<config::UserLine> elsewhere;
  if (config::Problem problem = server.options.UsersElsewhere(elsewhere)) return problem;
  std::set<std::string_view> written_elsewhere;
  for (const config::UserLine& line : elsewhere) {
    if (!StaysAs(server, line))
      return "Rewriting config file: the user '" + config::Printable(line.name) + "' comes from " +
             line.blame + " and has changed: change it there, or move it to the conf file";
    written_elsewhere.insert(line.name);
  }
  User plain = Users::MakeDefault(server.users.catalogue());
  SetOnlyPassword(plain, server.options.settings().requirepass);
  for (const auto& [name, user] : server.users.by_name()) {
    if (written_elsewhere.contains(name)) continue;
    const std::string rules = user->Describe();
    if (user.get() == &server.users.default_user() && rules == plain.Describe()) continue;
    std::string line = ConfWord(name);
    for (const std::string& word : config::SplitAtSpaces(rules)) line.append(" ").append(ConfWord(word));
    lines.push_back(std::move(line));
  }
  return std::nullopt;
}

}  // namespace mayfly
