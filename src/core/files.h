// Whole files in and out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hifi {

// Throws Error(input) naming the path: missing, a directory, unreadable, empty.
std::string read_file(const std::string& path);

// Something has this name, be it a link that leads nowhere: opening it tells what is wrong with it.
bool is_there(const std::string& path);

// Throws Error(input) if `path` cannot be created, without leaving anything: asked before a long run,
// so that the run is not lost at its end.
void check_writable(const std::string& path);

// All or nothing: written beside, then renamed. Throws Error(input) naming the path (full disk, ..).
void write_file(const std::string& path, std::string_view content);

struct NewFile {
  std::string path;
  std::string content;
};

// The same for several files: if one cannot be written, none is.
void write_files(const std::vector<NewFile>& files);

}  // namespace hifi
