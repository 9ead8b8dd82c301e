// Steps of opening a subject of images.
#pragma once

#include "audit/image_subject.h"

namespace hifi {

// What one look at every image gives.
struct Look {
  std::string content;                // the hash of its file
  std::string hash;                   // and of its mask
  std::vector<double> mean;           // per channel of the fitted image
  std::vector<std::uint32_t> labels;  // of its segments
};
// Throws Error(input) that names the file for one that cannot be read, or a box or mask that does not fit.
std::vector<Look> look_at_all(const ImageSubject& subject, Workers& workers);
// The label mask of an image.
std::string mask_path(const ImageSubject& subject, const ListedImage& image);

// Grids where nobody says how many.
std::size_t usual_offsets(const ImageRequest& request);
// Players and masks.
void make_patches(ImageSubject& subject, const std::vector<Look>& looks, std::size_t offsets);
// The fills and how many of them are drawn; returns their hash.
std::string make_fills(ImageSubject& subject, const std::vector<Look>& looks, Workers& workers);
// The budget of an image: as asked, or by the time.
void choose_budget(ImageSubject& subject, const std::optional<std::uint64_t>& settled);
// As many grids as the budget shows both ends of; others are dropped.
std::size_t affordable_offsets(ImageSubject& subject, std::size_t offsets);
// The coalitions. Throws Error(input) for a budget that is too small, or too large for --max-memory.
void make_plans(ImageSubject& subject, std::size_t offsets);
// Provenance, warnings and notes.
void describe(ImageSubject& subject, const std::vector<Look>& looks, const std::string& fill_hash);

// Throws Error(input) unless the model takes what the recipe gives.
void check_input(const ImageSubject& subject);
// The class of each image, from --class or its label. Throws Error(input) for a class that the model does not
// have.
void read_classes(ImageSubject& subject);
// Is the model deterministic, how fast is it, are its outputs probabilities?
void try_model(ImageSubject& subject, Workers& workers);

}  // namespace hifi
