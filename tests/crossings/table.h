// The rows and columns of the table of crossings.
//
// To add a row: write its `make` and `check` in one of the files features_*.cc, and a line in the table at its foot.
// To add a column: an enumerator and a line in `kColumns`, and a Crossing of its own in columns.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crossings/crossing.h"

namespace mayfly::testing::crossings {

// How keys come to another server, or meet another feature.
enum class Column {
  kSnapshot,
  kServingLoad,
  kMayflyReplica,
  kRedisReplica,
  kFailover,
  kMigrate,
  kReload,
  kTransaction,
  kScript,
  kNamespace,
  kMemoryFull,
};

struct ColumnName {
  Column column;
  std::string_view name;
};

inline constexpr ColumnName kColumns[] = {
    {Column::kSnapshot, "snapshot"},
    {Column::kServingLoad, "load while clients write"},
    {Column::kMayflyReplica, "replica"},
    {Column::kRedisReplica, "redis-server replica"},
    {Column::kFailover, "WAIT, promotion"},
    {Column::kMigrate, "MIGRATE, DUMP"},
    {Column::kReload, "DEBUG RELOAD"},
    {Column::kTransaction, "MULTI"},
    {Column::kScript, "script"},
    {Column::kNamespace, "namespace with limits"},
    {Column::kMemoryFull, "memory full"},
};

// Why a row has no cell in a column.
struct Mark {
  Column column;
  std::string_view why;
};

struct Feature {
  std::string_view name;
  std::string_view section;  // of the manual: "page.md#section"
  // The commands, and the words of SET and EXPIRE, that only Mayfly has.
  std::string_view covers = {};
  // Set at every server of the cell, before anything else.
  std::vector<Words> options = {};
  void (*make)(Crossing&) = nullptr;
  void (*check)(Crossing&) = nullptr;
  // Takes the keys away in the feature's own way. Then a second crossing must not bring them back.
  void (*end)(Crossing&) = nullptr;
  std::vector<Mark> none = {};
  // Why there is no cell at all; then there is no `make` either.
  std::string_view no_cells = {};
};

std::span<const Feature> FeaturesOfDeadlines();
std::span<const Feature> FeaturesOfValues();
std::span<const Feature> FeaturesOfServers();
// All of them, in the order of the table.
std::vector<const Feature*> Features();

// A way to fill a cell: a column may have several, such as a replica by its snapshot and by the stream.
struct Way {
  std::string_view name;
  std::function<std::unique_ptr<Crossing>()> begin;
};
std::vector<Way> WaysOf(Column column);

}  // namespace mayfly::testing::crossings
