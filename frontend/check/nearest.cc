#include "frontend/check/nearest.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace hopline {

namespace {

constexpr size_t kLongest = 64;  // longer names are not compared

int change(char a, char b) {
  if (a == b) return 0;
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return lower(a) == lower(b) ? 1 : 2;
}

// Half edits between the two, or at least `limit` when they are that far.
int distance(std::string_view a, std::string_view b, int limit) {
  const size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (static_cast<int>(2 * difference) >= limit) return limit;
  int rows[3][kLongest + 1];
  int *before = rows[0], *last = rows[1], *now = rows[2];
  for (size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(2 * j);
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = static_cast<int>(2 * i);
    int least = now[0];
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 2, now[j - 1] + 2, last[j - 1] + change(a[i - 1], b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 2);
      least = std::min(least, now[j]);
    }
    if (least >= limit) return limit;
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

}  // namespace

Nearest::Nearest(std::string_view name)
    : name_(name), best_(std::max(2, static_cast<int>(2 * (name.size() / 3))) + 1) {}

void Nearest::offer(std::string_view candidate) {
  if (candidate.empty() || candidate[0] == '%' || candidate == name_) return;
  if (candidate.size() > kLongest || name_.size() > kLongest) return;
  // A name of one or two letters is near to every other: only its case may differ.
  const int limit = name_.size() <= 2 ? std::min(best_, 2) : best_;
  const int edits = distance(name_, candidate, limit);
  if (edits >= limit) return;
  best_ = edits;
  found_ = candidate;
}

std::string Nearest::hint() const { return found_.empty() ? std::string() : "; did you mean '" + found_ + "'?"; }

}  // namespace hopline
