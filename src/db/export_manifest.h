#pragma once

// The form of an export: a directory with all that a cloud on SQLite holds, which `comanda export`
// writes and `comanda-head load` reads.
//
//   live/TABLE.copy, test/TABLE.copy
//                  the rows of a table in the text form of PostgreSQL's COPY: a line each, with the
//                  columns that the manifest names, separated by tabs. \N is null; a backslash,
//                  tab, line end or carriage return in a text is \\, \t, \n, \r
//   data/…         files of the data directory: settings, certificates and their keys, providers
//   manifest.json  what is in the other files: rows, bytes and the BLAKE2b of each. Written last: a
//                  directory without it is no export
//
// All files have mode 0600, since they hold keys.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace comanda::db {

struct ExportedTable {
  std::string schema;  // "live" or "test"
  std::string name;
  std::vector<std::string> columns;
  int64_t rows = 0;
  int64_t bytes = 0;
  std::string sum;

  std::string FileName() const { return schema + "/" + name + ".copy"; }
};

struct Manifest {
  std::string version;  // of the program that wrote it
  std::string made_at;
  int64_t schema = 0;  // the number of its last migration
  // A server served the database meanwhile: what it has committed since is in no file.
  bool was_serving = false;
  std::vector<ExportedTable> tables;
  std::map<std::string, std::string> files;  // sums of those in data/, by path below it
};

inline constexpr const char* kManifestFile = "manifest.json";

std::string Text(const Manifest& manifest);

// Of an export. Refusal, with what to do, where the directory is none or its manifest was changed.
Manifest ReadManifest(const std::string& directory);

}  // namespace comanda::db
