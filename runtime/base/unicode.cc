#include "runtime/base/unicode.h"

namespace hopline {

namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Reads the character at text[at] and moves behind it.
char32_t next_character(std::string_view text, size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  if (more == 0) return lead;
  char32_t c = lead & (0x3F >> more);
  for (int k = 0; k < more; ++k) {
    if (at + static_cast<size_t>(k) >= text.size() || !continues(text[at + static_cast<size_t>(k)])) return lead;
    c = c << 6 | (static_cast<unsigned char>(text[at + static_cast<size_t>(k)]) & 0x3F);
  }
  at += static_cast<size_t>(more);
  return c;
}

char32_t upper(char32_t c) {
  if (c >= 'a' && c <= 'z') return c - 32;
  if (c >= 0xE0 && c <= 0xFE && c != 0xF7) return c - 32;
  if (c == 0xFF) return 0x178;
  if (c == 0x3C2) return 0x3A3;
  if (c >= 0x3B1 && c <= 0x3C9) return c - 32;
  if (c >= 0x430 && c <= 0x44F) return c - 32;
  if (c >= 0x450 && c <= 0x45F) return c - 80;
  return c;
}

}  // namespace

size_t count_characters(std::string_view text) {
  size_t n = 0;
  for (const char c : text) n += continues(c) ? 0 : 1;
  return n;
}

size_t prefix_bytes(std::string_view text, size_t characters) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (continues(text[i])) continue;
    if (characters == 0) return i;
    --characters;
  }
  return text.size();
}

std::u16string to_utf16(std::string_view text) {
  std::u16string out;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = next_character(text, at);
    if (c < 0x10000) {
      out += static_cast<char16_t>(c);
    } else {
      out += static_cast<char16_t>(0xD800 + ((c - 0x10000) >> 10 & 0x3FF));
      out += static_cast<char16_t>(0xDC00 + (c & 0x3FF));
    }
  }
  return out;
}

std::string to_upper(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t c = next_character(text, at), u = upper(c);
    if (u == c || at - begin > 2) {
      out += text.substr(begin, at - begin);
    } else if (u < 0x80) {
      out += static_cast<char>(u);
    } else {
      out += static_cast<char>(0xC0 | u >> 6);
      out += static_cast<char>(0x80 | (u & 0x3F));
    }
  }
  return out;
}

}  // namespace hopline
