// The work on one image: which pictures it is shown as, one after the other, and what is told of the answers.
#pragma once

#include "audit/image_record.h"
#include "audit/image_subject.h"
#include "core/parallel.h"
#include "game/image_game.h"

namespace hifi {

// Throws Error(model), Error(input) for an answer that is no number, or no probability where one is needed.
ImageRecord audit_image(const ImageSubject& subject, ImageNetwork& network, std::size_t image,
                        Workers& workers);

}  // namespace hifi
