#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "audit/profile.h"
#include "command.h"
#include "core/files.h"
#include "demo_model.h"
#include "explain_options.h"
#include "hifi/error.h"
#include "run.h"

namespace hifi::app {

namespace {

constexpr const char* kStory = R"(A model with a known truth:

  y = unique + clip(copy_a + copy_b, -1, 1) + xor_1 * xor_2 * xor_3      (copy_b is a copy of copy_a; noise is not used)

Every column is -1 or 1; an absent column is replaced by its mean, 0. Each of the three terms is worth 1 of the squared loss.
So the answer must be: `unique` unique 1; `copy_a`, `copy_b` redundant 1; `xor_1`, `xor_2`, `xor_3` synergy 1; `noise` nothing.
What hifi finds from the model file and the table alone:

)";

// The folder of the demo's files: the user's, or one that goes with this object.
class Folder {
 public:
  explicit Folder(const std::string& keep) : path_(keep), temporary_(keep.empty()) {
    std::error_code error;
    if (temporary_) {
      std::string name = (std::filesystem::temp_directory_path() / "hifi-demo-XXXXXX").string();
      if (mkdtemp(name.data()) == nullptr) throw input_error(fmt::format("{}: cannot be created", name));
      path_ = name;
    } else {
      std::filesystem::create_directories(path_, error);
      if (error) throw input_error(fmt::format("{}: cannot be created: {}", keep, error.message()));
    }
  }
  ~Folder() {
    std::error_code ignored;
    if (temporary_) std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
  bool temporary_;
};

struct Demo {
  std::string keep;
  Output output;

  void operator()() {
    output.check();
    const Folder folder(keep);
    ExplainRequest request{.model = folder.file("model.json"),
                           .data = folder.file("data.csv"),
                           .target = "y",
                           .background = "mean",
                           .exact = true,
                           .interval = "montecarlo"};
    write_file(request.model, demo_model());
    write_file(request.data, demo_data());
    Workers workers(output.threads);
    Audit audit(request, {}, workers);
    const bool text = !output.quiet && output.json != "-";
    if (text) fmt::print("{}", kStory);
    std::fflush(stdout);
    run_and_report(audit, nullptr, output, workers);
    if (text && !keep.empty()) {
      fmt::print(
          "\nThe files are in {}. The same by hand:\n  hifi explain --model {} --data {} --target y "
          "--background mean --exact\n",
          keep, shell_quote(request.model), shell_quote(request.data));
    } else if (text) {
      fmt::print("\n`hifi demo --keep demo` keeps the model and the table, to try other commands on them.\n");
    }
  }
};

}  // namespace

Run add_demo(CLI::App& app) {
  auto* verb = app.add_subcommand("demo", "A model with planted truth, explained");
  auto run = std::make_shared<Demo>();
  verb->add_option("--keep", run->keep, "Keep the model and the table in this folder")->type_name("DIR");
  run->output.add_to(*verb);
  verb->footer("Example:\n  hifi demo --keep demo");
  return [run] { (*run)(); };
}

}  // namespace hifi::app
