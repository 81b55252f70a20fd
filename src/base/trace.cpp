#include "base/trace.h"

#include <cstdio>

namespace pliant {
namespace {

constexpr std::int64_t kIsCounter = -1;

std::string quoted(const char* text) {
  std::string out = "\"";
  for (; *text; ++text) {
    const auto c = static_cast<unsigned char>(*text);
    if (c == '"' || c == '\\') out += '\\';
    if (c >= 0x20) out += static_cast<char>(c);
  }
  return out + "\"";
}

}  // namespace

void Trace::add_span(const char* name, std::int64_t start_ns, std::int64_t end_ns) {
  entries_.push_back({name, start_ns, end_ns, 0});
}

void Trace::add_counter(const char* name, std::int64_t at_ns, double value) {
  entries_.push_back({name, at_ns, kIsCounter, value});
}

std::string Trace::to_json() const {
  std::int64_t origin = entries_.empty() ? 0 : entries_.front().start_ns;
  for (const Entry& entry : entries_) origin = entry.start_ns < origin ? entry.start_ns : origin;

  std::string json = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  char numbers[160];
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    const double at_us = static_cast<double>(entry.start_ns - origin) * 1e-3;
    if (entry.end_ns == kIsCounter) {
      std::snprintf(numbers, sizeof numbers, "\"ph\": \"C\", \"pid\": 1, \"ts\": %.3f, \"args\": {\"value\": %.9g}}",
                    at_us, entry.value);
    } else {
      std::snprintf(numbers, sizeof numbers, "\"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"ts\": %.3f, \"dur\": %.3f}",
                    at_us, static_cast<double>(entry.end_ns - entry.start_ns) * 1e-3);
    }
    json += "{\"name\": " + quoted(entry.name) + ", " + numbers + (i + 1 < entries_.size() ? ",\n" : "\n");
  }
  return json + "]}\n";
}

}  // namespace pliant
