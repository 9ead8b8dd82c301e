// Parts of opening a subject that are about the model and its classes.
#pragma once

#include "audit/image_subject.h"

namespace hifi {

// Throws Error(input) unless the model takes what the recipe gives.
void check_input(const ImageSubject& subject);
// The class of each image, from --class or its label. Throws Error(input) for a class that the model does not
// have.
void read_classes(ImageSubject& subject);
// Is the model deterministic, how long does it take, are its outputs probabilities?
void try_model(ImageSubject& subject, Workers& workers);

}  // namespace hifi
