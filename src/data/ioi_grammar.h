// The text of models/ioi_grammar.json.
#pragma once

namespace hifi {

extern const char* const kIoiGrammar;

}  // namespace hifi
