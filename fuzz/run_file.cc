#include "vocabulary/run_file.h"
#include "audit/run_result.h"
#include "fuzz.h"
#include "vocabulary/lattice_store.h"

namespace hifi::fuzz {

// As `hifi decompose` opens a run.
void try_input(const std::string& bytes) {
  RunFile file = RunFile::open(scratch_file(bytes, ".hifi"), RunFile::Mode::read);
  const RunPlan plan = read_plan(file);
  if (is_complete(file, plan)) read_result(file, plan);
}

// They come from the command line: scripts/fuzz.sh makes runs of its own.
std::vector<std::string> own_seeds() { return {}; }

}  // namespace hifi::fuzz
