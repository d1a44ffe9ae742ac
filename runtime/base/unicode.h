// UTF-8 text by characters. Bytes that are no UTF-8 count as one character each and are kept.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace hopline {

size_t count_characters(std::string_view text);
// Bytes of the first `characters` characters; all bytes when there are fewer.
size_t prefix_bytes(std::string_view text, size_t characters);
std::u16string to_utf16(std::string_view text);
// Upper case of ASCII, Latin-1, Greek and Cyrillic letters; others stay.
std::string to_upper(std::string_view text);

}  // namespace hopline
