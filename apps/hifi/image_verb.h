// What `image`, `resume` and `decompose` share about runs of images.
#pragma once

#include <string>

#include "audit/image_request.h"
#include "command.h"
#include "vocabulary/run_file.h"
#include "vocabulary/run_plan.h"

namespace hifi::app {

// Where maps go.
struct MapOutput {
  std::string folder;
  std::string map = "P";  // of the overlays

  void add_to(CLI::App& verb);
  // Throws Error(usage) or Error(input).
  void check() const;
};

bool is_image_run(const RunPlan& plan);

// Continues a run, or reports a finished one, with the model.
void resume_images(RunFile& file, const RunPlan& plan, const Output& output, const MapOutput& maps);
// The profile of a finished run without the model.
void decompose_images(RunFile& file, const RunPlan& plan, const Output& output);

}  // namespace hifi::app
