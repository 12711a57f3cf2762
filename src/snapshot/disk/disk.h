// The calls of the file system that snapshots need. Tests make a Disk that fails at a chosen call.
//
// Every call returns 0, or an errno. Calls may come from any thread, but for one file from one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mayfly {

// The name of a temporary file of this process: "temp-<pid>-<run>.rdb", or "temp-<pid>-<run>.<use>.rdb" with a use. <run>,
// the beginning of the run's id, tells processes with the same number apart, in containers. Neither part has a dot.
std::string TemporaryName(std::string_view run_id, std::string_view use = "");
// The path of a file in a folder; "" is the working directory.
std::string PathIn(std::string_view folder, std::string_view name);

class Disk {
 public:
  virtual ~Disk() = default;
  Disk() = default;
  // The file system of this process.
  static Disk& Real() noexcept;
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  // Makes a file that does not exist yet, for writing by its owner.
  virtual int Create(const std::string& path, int& file);
  virtual bool Exists(const std::string& path);
  // True for a file, false for a folder or a pipe.
  virtual bool IsFile(const std::string& path);
  // Returns 0 if this process may make files in the folder.
  virtual int MayWriteInto(const std::string& folder);
  virtual int OpenToRead(const std::string& path, int& file, uint64_t& bytes);
  // May write or read fewer bytes. `count` is the number; 0 bytes read is the end of the file.
  virtual int Write(int file, std::string_view bytes, size_t& count);
  virtual int Read(int file, char* bytes, size_t most, size_t& count);
  // Returns when the file's bytes are on the disk.
  virtual int Sync(int file);
  // Lets the system begin to write the file's bytes to the disk, where that is possible: less is left for Sync.
  virtual void BeginSync(int file) noexcept;
  virtual int Close(int file);
  // Puts a file in the place of another, which may exist.
  virtual int Rename(const std::string& from, const std::string& to);
  // Gives the file a second name. Returns EEXIST if there is a file with this name.
  virtual int Link(const std::string& path, const std::string& second);
  // True if both names are the same file's.
  virtual bool AreSame(const std::string& path, const std::string& other);
  // Returns when the names of the folder's files are on the disk.
  virtual int SyncFolder(const std::string& path);
  virtual int Remove(const std::string& path);
  // Removes temporary files of ended processes from the folder: the processes were killed during a save. Files of the run of
  // `own`, and all other files, stay. Returns the number of removed files.
  virtual size_t RemoveLeftovers(const std::string& folder, std::string_view own) noexcept;
};

}  // namespace mayfly
