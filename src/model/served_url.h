// Where a served model is: http[s]://host[:port][/prefix]/v2/models/NAME[/versions/V].
#pragma once

#include <string>
#include <string_view>

namespace hifi {

bool looks_served(std::string_view spec);

// The address of the model's metadata, without a slash at its end. Throws Error(input) with a hint for
// anything else; a user name, password or query is refused and not repeated in the message, because the
// address is written to run files and reports.
std::string served_url(const std::string& spec);

}  // namespace hifi
