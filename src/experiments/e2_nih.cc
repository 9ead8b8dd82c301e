// E2 on real radiographs: the boxes of NIH ChestX-ray14 and a network of torchxrayvision, the paper's
// protocol.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/files.h"
#include "data/image.h"
#include "experiments/e2.h"
#include "experiments/nih_boxes.h"
#include "hifi/error.h"

namespace hifi {
namespace {

// The outputs of torchxrayvision's networks, in their order.
const std::vector<std::string>& pathologies() {
  static const std::vector<std::string> names = {"Atelectasis",  "Consolidation",
                                                 "Infiltration", "Pneumothorax",
                                                 "Edema",        "Emphysema",
                                                 "Fibrosis",     "Effusion",
                                                 "Pneumonia",    "Pleural_Thickening",
                                                 "Cardiomegaly", "Nodule",
                                                 "Mass",         "Hernia",
                                                 "Lung Lesion",  "Fracture",
                                                 "Lung Opacity", "Enlarged Cardiomediastinum"};
  return names;
}

std::size_t output_of(const std::string& finding, const std::string& place) {
  // The list of boxes has a short form.
  const std::string name = finding == "Infiltrate" ? "Infiltration" : finding;
  const auto& names = pathologies();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw input_error(fmt::format("{}: the model has no class {}", place, finding),
                      "its classes are those of torchxrayvision: Atelectasis, Cardiomegaly, ..");
  return static_cast<std::size_t>(found - names.begin());
}

// DenseNet's last convolution adds 32 of its 1,024 channels; what follows all of them is the last
// normalisation.
std::string default_layer(const E2Model& model) {
  if (!model.gradients) return "";
  for (const std::string& layer : model.gradients->layers())
    if (layer.ends_with("features.norm5")) return layer;
  return "";
}

}  // namespace

ExperimentResult run_e2_nih(const ExperimentOptions& options, Workers& workers, Progress::Listener listener) {
  const std::filesystem::path folder(options.nih);
  if (options.model.empty())
    throw Error(ErrorCode::usage, "reproduce e2 --nih needs --model",
                "models/e2/export_densenet.py writes densenet121.onnx and densenet121.pt");
  const NihBoxes list = read_nih_boxes((folder / "BBox_List_2017.csv").string());
  const Recipe recipe = Recipe::open("xrv");
  const std::filesystem::path model_path(options.model);
  const std::filesystem::path beside = std::filesystem::path(model_path).replace_extension(".pt");
  const bool gradients = std::filesystem::exists(beside);
  E2Model model = open_e2_model(model_path.filename().string(), model_path.string(),
                                gradients ? beside.string() : "", recipe, Link::none);
  if (model.network->info().output.size() != pathologies().size())
    throw input_error(fmt::format("{}: has {} outputs, torchxrayvision's networks have {}", options.model,
                                  model.network->info().output.size(), pathologies().size()));
  model.layer = options.layer.empty() ? default_layer(model) : options.layer;

  std::vector<E2Picture> pictures;
  std::vector<std::string> missing;
  for (const NihImage& image : list.images) {
    const std::filesystem::path path = folder / image.name;
    if (!std::filesystem::exists(path)) {
      missing.push_back(image.name);
      continue;
    }
    const std::size_t label = output_of(image.finding, image.place);
    const Image pixels = read_image(path.string());
    std::vector<Box> boxes;
    for (const Box& box : image.boxes) {
      if (box.x < 0 || box.y < 0 || box.x + box.width > static_cast<double>(pixels.width) + 1 ||
          box.y + box.height > static_cast<double>(pixels.height) + 1)
        throw input_error(fmt::format("{}: the box does not lie within {} ({} x {} pixels)", image.place,
                                      image.name, pixels.width, pixels.height),
                          "boxes are in pixels of the file: x, y, width, height");
      boxes.push_back(recipe.fit_box(box, pixels.height, pixels.width));
    }
    E2Picture picture = make_picture(recipe.fit_image(pixels), recipe, std::move(boxes));
    picture.name = image.name;
    picture.group = image.finding;
    picture.number = pictures.size();
    picture.label = label;
    pictures.push_back(std::move(picture));
  }
  if (pictures.empty())
    throw input_error(fmt::format("{}: none of the {} images of BBox_List_2017.csv is there", options.nih,
                                  list.images.size()));

  const std::size_t budget = 1000;
  const E2Grids grids = make_grids(14, 1, budget, recipe.height, recipe.width, options.seed);
  const E2Work work{.grids = {&grids}, .rise_masks = options.quick ? 100u : budget, .seed = options.seed};
  Progress progress(pictures.size() * work.calls(), 0, listener);
  const auto scores = score_pictures(model, pictures, work, workers, progress);

  ExperimentResult result{
      .key = "e2", .title = fmt::format("E2: saliency maps of NIH ChestX-ray14, model {}", model.name)};
  result.setup = {
      fmt::format("images   {} of {} with boxes in BBox_List_2017.csv ({} boxes); the first finding of each "
                  "image; {} are "
                  "missing from {}",
                  pictures.size(), list.images.size(), list.boxes, missing.size(), options.nih),
      fmt::format("model    {}, recipe xrv; {}", options.model,
                  gradients
                      ? fmt::format("gradients from {}, GradCAM of layer {}", beside.filename().string(),
                                    model.layer.empty() ? "(last convolution)" : model.layer)
                      : "no TorchScript file beside it, so no gradient maps"),
      fmt::format("our map  14x14 patches, {} calls per image, the mean of pi, last and mean gain read as "
                  "log-odds, fill {}",
                  budget, kE2Fills[0])};
  const std::string subject = fmt::format("NIH images, model {}", model.name);
  result.tables.push_back(methods_table("e2_maps", subject, scores));
  result.tables.push_back(tests_table("e2_tests", subject, scores));
  result.tables.push_back(pixels_table("e2_pixels", subject, scores));
  result.tables.push_back(all_tests_table("e2_all_tests", subject, scores));
  result.tables.push_back(groups_table("e2_findings", subject, scores));
  result.tables.push_back(images_table("e2_images", subject, scores));
  ResultTable absent{.key = "e2_missing",
                     .title = "Images of the list that are not in the folder",
                     .columns = {"image"},
                     .printed = false};
  for (const std::string& name : missing) absent.add({name});
  result.tables.push_back(std::move(absent));
  return result;
}

}  // namespace hifi
