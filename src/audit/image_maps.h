// Maps of images as files: arrays and overlays.
#pragma once

#include <string>
#include <vector>

#include "audit/image_run.h"

namespace hifi {

// The map of that name, one number per pixel of the fitted image: the mean over the grids.
std::vector<float> image_map(const ImageSubject& subject, const ImageRecord& record, std::size_t image,
                             const std::string& name, Workers& workers);

// NAME.png (the overlay of the map `shown`), NAME.MAP.npy of every map, for every image; NAME is that of the
// image file, with its class where an image comes twice. REQUIRES: the folder exists
void write_maps(const ImageSubject& subject, const std::vector<ImageRecord>& records,
                const std::string& folder, const std::string& shown, Workers& workers);

}  // namespace hifi
