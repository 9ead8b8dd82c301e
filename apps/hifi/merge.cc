#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "core/files.h"
#include "hifi/error.h"
#include "vocabulary/lattice_store.h"

namespace hifi::app {

Run add_merge(CLI::App& app) {
  struct Merge {
    std::string out;
    std::vector<std::string> parts;
  };
  auto* verb = app.add_subcommand("merge", "Add up the shards of one run into one run file");
  auto run = std::make_shared<Merge>();
  verb->add_option("-o,--out", run->out, "The file to make")->required()->type_name("all.hifi");
  verb->add_option("parts", run->parts, "The run files of all shards")->required()->type_name("part..");
  verb->footer("Example:\n  hifi merge -o all.hifi part1.hifi part2.hifi && hifi decompose all.hifi");
  return [run] {
    if (is_there(run->out)) {
      throw input_error(fmt::format("{}: exists already", run->out), "remove it or choose another name");
    }
    check_writable(run->out);
    merge_runs(run->parts, run->out);
  };
}

}  // namespace hifi::app
