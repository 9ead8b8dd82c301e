// What the verbs share: one file per verb, each adds itself to the command line and is run when it was named.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/progress.h"
#include "hifi/profile.h"

namespace hifi::app {

using Run = std::function<void()>;

// Each adds its verb and returns what to do when it was named.
Run add_demo(CLI::App& app);
Run add_explain(CLI::App& app);
Run add_circuit(CLI::App& app);
Run add_image(CLI::App& app);
Run add_plan(CLI::App& app);
Run add_resume(CLI::App& app);
Run add_merge(CLI::App& app);
Run add_decompose(CLI::App& app);
Run add_indices(CLI::App& app);
Run add_verify(CLI::App& app);
Run add_reproduce(CLI::App& app);

// What is told after a profile.
struct Appendix {
  std::string text;
  // Fields of the profile's JSON beside its own: name and value.
  std::vector<std::pair<std::string, std::string>> fields;
};

// Where results go.
struct Output {
  std::string json;  // path, or - for standard output
  std::string csv;   // existing folder
  std::string pairs = "all";
  bool quiet = false;
  bool verbose = false;
  std::size_t threads = 0;

  void add_to(CLI::App& verb);
  // Before a long run, so that it is not lost at its end. Throws Error(input) naming the path.
  void check() const;
  void write(const Profile& profile, const Appendix& appendix = {}) const;
  // A line on standard error, unless --quiet.
  void say(const std::string& line) const;
  // A progress bar on standard error, if that is a terminal and not --quiet.
  Progress::Listener progress() const;

 private:
  std::string csv_file(const char* name) const;
};

// Text to standard output. Throws Error(input) if it cannot be written.
void print(const std::string& text);
// "a,b" to names. Throws Error(usage) naming the option if one is empty or there twice.
std::vector<std::string> split_list(const std::string& option, const std::string& text);
// Digits only: CLI11 alone wraps -1 around and cuts what does not fit.
CLI::Validator whole_number();
// "4G", "512M", "1000000". Throws Error(usage) naming the option.
std::uint64_t parse_bytes(const std::string& option, const std::string& text);
// "1.5 s", "12 minutes".
std::string human_seconds(double seconds);
// Text that a shell reads back as one word.
std::string shell_quote(const std::string& word);

}  // namespace hifi::app
