// Experiment E2 of the paper: saliency maps of chest radiographs. Synthetic images and networks that come
// with the program by default; the NIH data and a real network where they are given.
#pragma once

#include <string>
#include <vector>

#include "experiments/e2_picture.h"
#include "experiments/experiment.h"
#include "experiments/radiographs.h"

namespace hifi {

struct ScoredMap {
  std::string name;
  MapScores scores;
};

// All numbers of one image; maps in the same order for all images of a run, ours first.
struct ScoredPicture {
  std::string name, group;
  std::size_t label = 0;
  double ceiling = 0;  // of IoU@15
  OurAnswer ours;      // of the first grids, without the map
  std::vector<ScoredMap> maps;
};

// What is done with every image.
struct E2Work {
  std::vector<const E2Grids*> grids;  // ours, one map each
  std::size_t rise_masks = 1000;
  bool baselines = true;
  std::uint64_t seed = 0;

  std::uint64_t calls() const;  // of the model per image, about
};

// Images side by side; the numbers do not depend on threads.
std::vector<ScoredPicture> score_pictures(const E2Model& model, const std::vector<E2Picture>& pictures,
                                          const E2Work& work, Workers& workers, Progress& progress);

std::string grids_name(const E2Grids& grids);  // "Hi-Fi 7x7, 2 grids"

// One of the numbers that a map is judged by.
struct E2Metric {
  std::string name;
  bool higher_is_better = true;
  double (*of)(const MapScores&) = nullptr;
};
const std::vector<E2Metric>& e2_metrics();

std::vector<double> values_of(const std::vector<ScoredPicture>& pictures, std::size_t map,
                              const E2Metric& metric);
// Two-sided paired Wilcoxon test of two maps; absent if they never differ.
std::optional<double> paired_p(const std::vector<ScoredPicture>& pictures, std::size_t first,
                               std::size_t second, const E2Metric& metric);

// Tables; `subject` says in every title what was explained.
ResultTable methods_table(const std::string& key, const std::string& subject,
                          const std::vector<ScoredPicture>& pictures);
ResultTable tests_table(const std::string& key, const std::string& subject,
                        const std::vector<ScoredPicture>& pictures);
ResultTable pixels_table(const std::string& key, const std::string& subject,
                         const std::vector<ScoredPicture>& pictures);
ResultTable all_tests_table(const std::string& key, const std::string& subject,
                            const std::vector<ScoredPicture>& pictures);
ResultTable groups_table(const std::string& key, const std::string& subject,
                         const std::vector<ScoredPicture>& pictures);
ResultTable images_table(const std::string& key, const std::string& subject,
                         const std::vector<ScoredPicture>& pictures);

// A file of a network, and its TorchScript form for gradients if there is one.
E2Model open_e2_model(const std::string& name, const std::string& path, const std::string& torchscript,
                      const Recipe& recipe, Link link);

// The shipped images and networks.
ExperimentResult run_e2_synthetic(const ExperimentOptions& options, Workers& workers,
                                  Progress::Listener listener);
// BBox_List_2017.csv and its images in options.nih, explained by options.model: the paper's protocol.
ExperimentResult run_e2_nih(const ExperimentOptions& options, Workers& workers, Progress::Listener listener);

// The images that are explained.
std::vector<TestRadiograph> e2_radiographs(const ExperimentOptions& options);
// PNG files of the test images, labels.csv as `hifi image --labels` reads it, and findings.csv with all
// findings.
std::vector<NewFile> radiograph_files(const std::vector<TestRadiograph>& images);

}  // namespace hifi
