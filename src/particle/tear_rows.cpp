#include "particle/tear_rows.h"

#include <algorithm>

namespace pliant {
namespace {

/// What has become of an edge: two nodes of now, the share of the edge's elements that have them, and which of these
/// (bit i: the i-th of the edge).
struct EdgeNow {
  std::array<std::uint32_t, 2> nodes{};
  float share = 0;
  std::uint32_t elements = 0;
};

class RowLayer {
 public:
  RowLayer(const TearRest& rest, std::span<const Face> elements, ParticleModel& model)
      : rest_(rest), elements_(elements), model_(model) {}

  void lay_chains() {
    model_.lines.clear();
    model_.chain_rows.resize(rest_.chain_starts.back());
    std::uint32_t segment = 0;
    for (const ChainLine& line : rest_.whole.lines) {
      open_.clear(), done_.clear();
      for (std::size_t k = 0; k + 1 < line.nodes.size(); ++k) lay_segment(line, k, segment++);
      close_lines(line.is_closed());
    }
  }

  void lay_springs() {
    model_.springs.clear();
    for (std::size_t i = 0; i < rest_.whole.springs.size(); ++i) {
      Spring spring = rest_.whole.springs[i];
      const TearRest::SpringPlace& place = rest_.springs[i];
      if (place.edge != TearRest::kNone) {
        for (const EdgeNow& now : edges_now(place.edge, spring.nodes[0], spring.nodes[1])) {
          model_.springs.push_back(spring);
          model_.springs.back().nodes = now.nodes;
          model_.springs.back().stiffness *= now.share;
        }
      } else if (place.faces[0] != TearRest::kNone && are_joined(place.faces[0], place.faces[1])) {
        spring.nodes = {now(place.faces[0], spring.nodes[0]), now(place.faces[1], spring.nodes[1])};
        model_.springs.push_back(spring);
      }
    }
  }

  void lay_bends() {
    model_.line_bends.clear();
    // Where an edge has come apart, two lines go on side by side. Each stays together, as it is swept along itself.
    std::vector<std::vector<Bend>> lines;
    const auto end_lines = [&] {
      for (const auto& line : lines) model_.line_bends.insert(model_.line_bends.end(), line.begin(), line.end());
      lines.clear();
    };
    for (std::size_t i = 0; i < rest_.whole.line_bends.size(); ++i) {
      const Bend& bend = rest_.whole.line_bends[i];
      if (i > 0 && !goes_on(rest_.whole.line_bends[i - 1], bend)) end_lines();
      const auto before = edges_now(rest_.bend_edges[i][0], bend.nodes[0], bend.nodes[1]);
      const auto after = edges_now(rest_.bend_edges[i][1], bend.nodes[1], bend.nodes[2]);
      for (const EdgeNow& a : before) {
        for (const EdgeNow& b : after) {
          if (a.nodes[1] != b.nodes[0]) continue;
          Bend row = bend;
          row.nodes = {a.nodes[0], a.nodes[1], b.nodes[1], a.nodes[0]};
          row.stiffness *= std::min(a.share, b.share);
          auto line = std::find_if(lines.begin(), lines.end(), [&](const auto& l) { return goes_on(l.back(), row); });
          if (line == lines.end()) line = lines.insert(lines.end(), std::vector<Bend>());
          line->push_back(row);
        }
      }
    }
    end_lines();
  }

  void lay_hinges() {
    model_.hinges.clear();
    for (std::size_t i = 0; i < rest_.whole.hinges.size(); ++i) {
      Bend hinge = rest_.whole.hinges[i];
      const auto [left, right] = rest_.hinge_faces[i];
      if (left == TearRest::kNone || right == TearRest::kNone) continue;
      const std::uint32_t a = now(left, hinge.nodes[0]), b = now(left, hinge.nodes[1]);
      if (now(right, hinge.nodes[0]) != a || now(right, hinge.nodes[1]) != b) continue;
      hinge.nodes = {a, b, now(left, hinge.nodes[2]), now(right, hinge.nodes[3])};
      model_.hinges.push_back(hinge);
    }
  }

 private:
  struct OpenLine {
    ChainLine line;
    std::vector<std::uint32_t> segments, elements;  ///< of the whole body, and beside them
    bool is_extended = false;

    void append(const OpenLine& next) {
      const auto add = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
      line.nodes.pop_back();
      add(line.nodes, next.line.nodes), add(line.lengths, next.line.lengths);
      add(line.compliance, next.line.compliance), add(line.strengths, next.line.strengths);
      add(segments, next.segments), add(elements, next.elements);
    }
  };

  static bool goes_on(const Bend& before, const Bend& after) {
    return before.nodes[1] == after.nodes[0] && before.nodes[2] == after.nodes[1];
  }

  /// What an element has now where it had `node` at first.
  std::uint32_t now(std::uint32_t element, std::uint32_t node) const {
    const Face& corners = rest_.elements[element];
    const std::size_t k = corners[0] == node ? 0 : corners[1] == node ? 1 : 2;
    return elements_[element][k];
  }

  std::vector<EdgeNow> edges_now(std::uint32_t edge, std::uint32_t from, std::uint32_t to) const {
    std::vector<EdgeNow> found;
    const std::span<const std::uint32_t> sides = rest_.along(edge);
    for (std::uint32_t i = 0; i < sides.size(); ++i) {
      const std::array<std::uint32_t, 2> nodes{now(sides[i], from), now(sides[i], to)};
      auto known = std::find_if(found.begin(), found.end(), [&](const EdgeNow& e) { return e.nodes == nodes; });
      if (known == found.end()) known = found.insert(found.end(), {nodes, 0, 0});
      known->share += 1 / static_cast<float>(sides.size());
      known->elements |= 1u << std::min(i, 31u);
    }
    return found;
  }

  bool are_joined(std::uint32_t a, std::uint32_t b) const {
    int shared = 0;
    for (const std::uint32_t node : elements_[a]) {
      shared += std::count(elements_[b].begin(), elements_[b].end(), node) > 0 ? 1 : 0;
    }
    return shared == 2;
  }

  /// Goes on with the lines that end where the segment begins now; others end, or begin with it.
  void lay_segment(const ChainLine& whole, std::size_t k, std::uint32_t segment) {
    for (OpenLine& open : open_) open.is_extended = false;
    std::vector<OpenLine> begun;
    for (const EdgeNow& now : edges_now(rest_.chain_edges[segment], whole.nodes[k], whole.nodes[k + 1])) {
      const auto open = std::find_if(open_.begin(), open_.end(), [&](const OpenLine& o) {
        return !o.is_extended && o.line.nodes.back() == now.nodes[0];
      });
      OpenLine& line = open != open_.end() ? *open : begun.emplace_back();
      if (line.line.nodes.empty()) line.line.nodes = {now.nodes[0]}, line.line.tension_only = whole.tension_only;
      line.is_extended = true;
      line.line.nodes.push_back(now.nodes[1]);
      line.line.lengths.push_back(whole.lengths[k]);
      if (!whole.compliance.empty()) line.line.compliance.push_back(whole.compliance[k] / now.share);
      if (!whole.strengths.empty()) line.line.strengths.push_back(whole.strengths[k] * now.share);
      line.segments.push_back(segment), line.elements.push_back(now.elements);
    }
    for (OpenLine& open : open_) {
      if (!open.is_extended) done_.push_back(std::move(open));
    }
    std::erase_if(open_, [](const OpenLine& open) { return !open.is_extended; });
    for (OpenLine& line : begun) open_.push_back(std::move(line));
  }

  void close_lines(bool is_ring) {
    for (OpenLine& open : open_) done_.push_back(std::move(open));
    // A ring that has torn goes on where it began.
    if (is_ring && done_.size() > 1 && done_.back().line.nodes.back() == done_.front().line.nodes.front()) {
      done_.back().append(done_.front());
      done_.erase(done_.begin());
    }
    for (OpenLine& open : done_) finish(open);
  }

  void finish(OpenLine& open) {
    const auto line = static_cast<std::uint32_t>(model_.lines.size());
    for (std::uint32_t k = 0; k < open.segments.size(); ++k) {
      const std::uint32_t first = rest_.chain_starts[open.segments[k]];
      const std::uint32_t count = rest_.chain_starts[open.segments[k] + 1] - first;
      for (std::uint32_t i = 0; i < count; ++i) {
        if (open.elements[k] & (1u << std::min(i, 31u))) model_.chain_rows[first + i] = {line, k};
      }
    }
    model_.lines.push_back(std::move(open.line));
  }

  const TearRest& rest_;
  std::span<const Face> elements_;
  ParticleModel& model_;
  std::vector<OpenLine> open_, done_;
};

}  // namespace

void lay_rows(const TearRest& rest, std::span<const Face> elements, ParticleModel& model) {
  RowLayer layer(rest, elements, model);
  layer.lay_chains();
  layer.lay_springs();
  layer.lay_bends();
  layer.lay_hinges();
}

}  // namespace pliant
