// Texts printed from the tables: help, completion, manual page.
#pragma once
#include <string>
#include <string_view>

namespace hopline {

std::string usage_text();
// Help on an operator, a setting or an option. Throws Error{usage} when there is none, with the nearest name.
std::string topic_text(std::string_view topic);
std::string version_text();
std::string bash_completion();
std::string manual_page();

}  // namespace hopline
