#include "io/xml.h"

#include <algorithm>

#include <fmt/format.h>

#include "io/file.h"
#include "io/text_reader.h"

namespace pliant {

namespace {

constexpr int kMaxDepth = 64;
constexpr int kMaxElements = 1'000'000;  ///< far more than any VTK file has; each takes memory many times its text
constexpr auto npos = std::string_view::npos;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == ':';
}

class XmlParser {
 public:
  XmlParser(const std::filesystem::path& file, std::string_view text, std::string_view raw_element)
      : file_(file), text_(text), raw_element_(raw_element) {}

  Result<XmlElement> parse() {
    XmlElement root;
    skip_between();
    if (at_ >= text_.size() || text_[at_] != '<')
      fail("is not XML: it does not begin with \"<\"");
    else
      element(root, 0);
    skip_between();
    if (status_ && at_ < text_.size()) fail("more follows after the root element");
    if (!status_) return status_.error();
    return root;
  }

 private:
  bool ok() const { return status_.ok(); }
  void fail(std::string message) {
    if (ok()) status_ = file_error(Error::Code::CannotRead, file_, std::move(message), line());
  }
  /// Called at growing places: counts each line once.
  int line() {
    const std::size_t end = std::min(at_, text_.size());
    if (end > counted_) {
      lines_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                            text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      counted_ = end;
    }
    return lines_;
  }
  bool starts_with(std::string_view s) const { return text_.substr(at_, s.size()) == s; }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  void skip_past(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    if (found == npos) return fail(fmt::format("\"{}\" is missing", end)), finish();
    at_ = found + end.size();
  }
  void finish() { at_ = text_.size(); }

  /// Blanks, comments and processing instructions.
  void skip_between() {
    for (skip_space(); ok() && (starts_with("<?") || starts_with("<!--")); skip_space())
      skip_past(starts_with("<?") ? "?>" : "-->");
  }

  std::string_view name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    if (at_ == begin) fail("a name is missing after \"<\" or before \"=\"");
    return text_.substr(begin, at_ - begin);
  }

  void element(XmlElement& e, int depth) {
    e.line = line();
    if (depth > kMaxDepth) return fail("elements are nested too deeply");
    if (++elements_ > kMaxElements) return fail(fmt::format("has more than {} XML elements", kMaxElements));
    ++at_;  // <
    e.name = name();
    for (skip_space(); ok() && at_ < text_.size() && is_name(text_[at_]); skip_space()) attribute(e);
    if (!ok()) return;
    if (starts_with("/>")) {
      at_ += 2;
    } else if (starts_with(">")) {
      ++at_;
      e.name == raw_element_ ? raw_content(e) : content(e, depth);
    } else {
      fail(fmt::format("the start tag <{} does not end with \">\"", printable(e.name)));
    }
  }

  void attribute(XmlElement& e) {
    const std::string_view key = name();
    skip_space();
    if (!starts_with("=")) return fail(fmt::format("attribute {} has no value", printable(key)));
    ++at_;
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '"' && quote != '\'')
      return fail(fmt::format("the value of attribute {} is not in quotation marks", printable(key)));
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == npos) return fail(fmt::format("the value of attribute {} does not end", printable(key)));
    e.attributes.emplace_back(key, unescaped(text_.substr(at_ + 1, end - at_ - 1)));
    at_ = end + 1;
  }

  std::string unescaped(std::string_view value) {
    static constexpr std::pair<std::string_view, char> kEntities[] = {
        {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    std::string result;
    while (!value.empty()) {
      std::size_t length = 1;
      char c = value[0];
      if (c == '&') {
        const auto* found = std::find_if(std::begin(kEntities), std::end(kEntities), [&](const auto& entity) {
          return value.substr(0, entity.first.size()) == entity.first;
        });
        if (found == std::end(kEntities))
          return fail("an entity other than &amp; &lt; &gt; &quot; &apos; is used"), result;
        length = found->first.size();
        c = found->second;
      }
      result += c;
      value.remove_prefix(length);
    }
    return result;
  }

  void content(XmlElement& e, int depth) {
    while (ok()) {
      const std::size_t tag = text_.find('<', at_);
      if (tag == npos) return fail(fmt::format("the element <{}> has no end", printable(e.name)));
      const std::string_view run = text_.substr(at_, tag - at_);
      if (run.size() > e.text.size()) e.text = run;
      at_ = tag;
      if (starts_with("</")) return end_tag(e);
      if (starts_with("<!--") || starts_with("<?")) {
        skip_between();
      } else if (starts_with("<!")) {
        return fail("CDATA and document types are not used in VTK files");
      } else {
        element(e.children.emplace_back(), depth + 1);
      }
    }
  }

  void raw_content(XmlElement& e) {
    const std::string end = fmt::format("</{}>", e.name);
    const std::size_t found = text_.rfind(end);
    if (found == npos || found < at_) return fail(fmt::format("the element <{}> has no end", e.name));
    e.text = text_.substr(at_, found - at_);
    at_ = found + end.size();
    counted_ = at_;  // line ends inside raw data mean nothing
  }

  void end_tag(const XmlElement& e) {
    at_ += 2;
    const std::string_view found = name();
    skip_space();
    if (ok() && (found != e.name || !starts_with(">")))
      fail(fmt::format("</{}> stands where </{}> should", printable(found), printable(e.name)));
    ++at_;
  }

  const std::filesystem::path& file_;
  std::string_view text_, raw_element_;
  std::size_t at_ = 0, counted_ = 0;
  int lines_ = 1, elements_ = 0;
  Status status_;
};

}  // namespace

const std::string* XmlElement::attribute(std::string_view attribute_name) const {
  for (const auto& [key, value] : attributes)
    if (key == attribute_name) return &value;
  return nullptr;
}

const XmlElement* XmlElement::child(std::string_view child_name) const {
  for (const XmlElement& c : children)
    if (c.name == child_name) return &c;
  return nullptr;
}

Result<XmlElement> parse_xml(const std::filesystem::path& file, std::string_view content,
                             std::string_view raw_element) {
  return XmlParser(file, content, raw_element).parse();
}

}  // namespace pliant
