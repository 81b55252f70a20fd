// Solids that break: nodes come apart at the end of a substep, pieces become bodies before the next.
#include <algorithm>

#include "solid/solid_engine_entry.h"
#include "solid/solid_measures.h"

namespace pliant {
namespace {

constexpr std::uint32_t kNone = FractureTopology::kNone;

/// Nodes of a mesh that were selected, by node.
using Selected = std::vector<std::uint8_t>;

Selected selected_of(const std::vector<std::uint32_t>& nodes, std::size_t node_count) {
  Selected out(node_count, 0);
  for (const std::uint32_t node : nodes) out[node] = 1;
  return out;
}

/// The selected nodes of a mesh as those of one of its pieces are numbered.
std::vector<std::uint32_t> in_piece(const Selected& selected, const std::vector<std::uint32_t>& origin_of) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < origin_of.size(); ++i) {
    if (selected[origin_of[i]]) out.push_back(i);
  }
  return out;
}

}  // namespace

/// What was selected of a body that breaks: found once for all of its pieces.
struct SolidEngine::Selections {
  explicit Selections(const SolidDef& def) {
    const std::size_t nodes = def.mesh.nodes.size();
    const auto find = [&](const NodeSelection& selection) {
      const auto selected = select_nodes(def.mesh, selection);
      return selected_of(selected ? *selected : std::vector<std::uint32_t>{}, nodes);
    };
    for (const HeldNodes& chosen : def.held) held.push_back(find(chosen.nodes));
    for (const WeakNodes& chosen : def.weakened) weakened.push_back(find(chosen.nodes));
    for (const WeakFaces& chosen : def.weak_faces) weak_faces.push_back(find(chosen.nodes));
    for (const auto& [name, set] : def.mesh.node_sets) node_sets.push_back(selected_of(set, nodes));
  }
  std::vector<Selected> held, weakened, weak_faces;  ///< in the order of the def
  std::vector<Selected> node_sets;                   ///< of its mesh, by name
};

namespace {

TetMesh piece_mesh(const TetMesh& whole, const std::vector<Selected>& node_sets, const FractureTopology& topology,
                   const FractureTopology::Part& part, const std::vector<std::uint32_t>& origin_of) {
  TetMesh mesh;
  mesh.nodes.reserve(part.nodes.size()), mesh.tets.reserve(part.tets.size());
  const PlacesIn places(part.nodes, topology.node_count());
  for (const std::uint32_t node : origin_of) mesh.nodes.push_back(whole.nodes[node]);
  for (const std::uint32_t tet : part.tets) {
    Tet corners = topology.tets()[tet];
    for (std::uint32_t& node : corners) node = places.of(node);
    mesh.tets.push_back(corners);
    if (!whole.regions.empty()) mesh.regions.push_back(whole.regions[tet]);
  }
  auto set = node_sets.begin();
  for (const auto& [name, nodes] : whole.node_sets) {
    std::vector<std::uint32_t> here = in_piece(*set++, origin_of);
    if (!here.empty()) mesh.node_sets.emplace(name, std::move(here));
  }
  return mesh;
}

/// A def from which the piece can be made: what is selected in the whole is listed by number in the piece.
SolidDef piece_def(const SolidDef& whole, const SolidEngine::Selections& selections, const FractureTopology& topology,
                   const FractureTopology::Part& part, const std::vector<std::uint32_t>& origin_of) {
  SolidDef def;
  def.mesh = piece_mesh(whole.mesh, selections.node_sets, topology, part, origin_of);
  for (std::size_t i = 0; i < whole.held.size(); ++i) {
    auto nodes = in_piece(selections.held[i], origin_of);
    if (!nodes.empty()) def.held.push_back({whole.held[i].name, NodeList{std::move(nodes)}});
  }
  for (std::size_t i = 0; i < whole.weakened.size(); ++i) {
    auto nodes = in_piece(selections.weakened[i], origin_of);
    if (!nodes.empty()) def.weakened.push_back({NodeList{std::move(nodes)}, whole.weakened[i].factor});
  }
  for (std::size_t i = 0; i < whole.weak_faces.size(); ++i) {
    auto nodes = in_piece(selections.weak_faces[i], origin_of);
    if (!nodes.empty()) def.weak_faces.push_back({NodeList{std::move(nodes)}, whole.weak_faces[i].factor});
  }
  def.name = whole.name;
  def.material = whole.material;
  def.region_materials = whole.region_materials;
  def.position = whole.position, def.rotation = whole.rotation, def.stretch = whole.stretch;
  def.friction = whole.friction, def.gravity_scale = whole.gravity_scale, def.drag = whole.drag;
  def.filter = whole.filter;
  def.self_collision = whole.self_collision, def.allow_sleep = whole.allow_sleep;
  def.solver = whole.solver;
  def.fracture = whole.fracture;
  // What is carried stays with the def that was added: it is shared out when it is looked at.
  def.interior_color = whole.interior_color;
  def.appearance = whole.appearance;
  return def;
}

}  // namespace

SolidEngine::Fragment::Fragment() = default;
SolidEngine::Fragment::~Fragment() = default;
SolidEngine::Fragment::Fragment(Fragment&&) noexcept = default;

void SolidEngine::fracture(std::vector<Crack>& cracks) {
  cracks_.resize(std::max(cracks_.size(), slots_.size()));
  for_bodies([&](std::size_t i, Workers& workers) {
    Entry& solid = entry(slots_[i]);
    cracks_[i].clear();
    if (solid.fracture && solid.is_active()) solid.fracture->run(workers, *solid.body, solid.id, cracks_[i]);
  });
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (cracks_[i].empty()) continue;
    cracks.insert(cracks.end(), cracks_[i].begin(), cracks_[i].end());
    report_.fractures += cracks_[i].size();
    entry(slots_[i]).set_stale();
  }
}

std::vector<SolidEngine::Fragment> SolidEngine::break_up() {
  std::vector<Fragment> fragments;
  std::vector<Selections> selections;  // of the bodies that broke
  std::vector<std::uint32_t> selections_of;
  for (const std::uint32_t slot : slots_) {
    if (!entry(slot).fracture || !entry(slot).fracture->has_split()) continue;
    plan_fragments(slot, fragments);
    selections_of.resize(fragments.size(), static_cast<std::uint32_t>(selections.size()));
    selections.emplace_back(entry(slot).body->def());
  }
  // The largest first: both threads then end at about the same time.
  std::vector<std::uint32_t> order(fragments.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return fragments[a].part.tets.size() > fragments[b].part.tets.size();
  });
  parallel_for(workers_, order.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Fragment& fragment = fragments[order[i]];
      make_fragment(fragment, entry(fragment.parent), selections[selections_of[order[i]]]);
    }
  });
  for (Fragment& fragment : fragments) {
    if (!fragment.stays) continue;
    const BodyId id = entry(fragment.parent).id;
    meetings_.forget(id);
    std::erase_if(meeting_memory_, [&](const MeetingMemory& m) { return m.a == id || m.b == id; });
    fragment.entry->id = id;
    fragment.entry->revision = ++added_;
    entries_[fragment.parent] = std::move(fragment.entry);
  }
  return fragments;
}

/// One fragment for each part of a body; the one with the most tets stays.
void SolidEngine::plan_fragments(std::uint32_t slot, std::vector<Fragment>& fragments) const {
  std::vector<FractureTopology::Part> parts = entry(slot).fracture->topology().parts();
  const auto largest = std::max_element(parts.begin(), parts.end(),
                                        [](const auto& a, const auto& b) { return a.tets.size() < b.tets.size(); });
  std::rotate(parts.begin(), largest, largest + 1);
  for (FractureTopology::Part& part : parts) {
    Fragment& fragment = fragments.emplace_back();
    fragment.parent = slot;
    fragment.stays = &part == &parts.front();
    fragment.part = std::move(part);
  }
}

void SolidEngine::make_fragment(Fragment& fragment, const Entry& whole, const Selections& selections) const {
  const FractureTopology& topology = whole.fracture->topology();
  const FractureTopology::Part& part = fragment.part;
  fragment.nodes.reserve(part.nodes.size());
  for (const std::uint32_t node : part.nodes) fragment.nodes.push_back(topology.origin(node));
  fragment.def =
      std::make_shared<const SolidDef>(piece_def(whole.body->def(), selections, topology, part, fragment.nodes));
  auto body = std::make_unique<SolidBody>(fragment.def, *layouts_.lend());
  body->take_over(*whole.body, fragment.nodes, part.tets);
  for (std::uint32_t i = 0; i < part.nodes.size(); ++i) {
    const auto freed = whole.fracture->freed();
    if (std::binary_search(freed.begin(), freed.end(), part.nodes[i])) body->hold(i, false);
  }
  const SolidTotals totals = body->totals();
  fragment.center = {static_cast<float>(totals.center[0]), static_cast<float>(totals.center[1]),
                     static_cast<float>(totals.center[2])};
  auto breaks = std::make_unique<SolidFracture>(*whole.fracture, part, *fragment.def);
  fragment.entry = std::make_unique<Entry>(std::move(body), std::move(breaks));
  fragment.entry->settings = whole.settings;
  fragment.entry->settings.is_piece = true;
  // Where nodes were told to go, their copies go too.
  if (whole.driven.empty()) return;
  std::vector<std::uint32_t> driven_of(whole.body->node_count(), kNone);
  for (std::uint32_t i = 0; i < whole.driven.size(); ++i) driven_of[whole.driven[i].node] = i;
  for (std::uint32_t i = 0; i < fragment.nodes.size(); ++i) {
    const std::uint32_t driven = driven_of[fragment.nodes[i]];
    if (driven != kNone) fragment.entry->driven.push_back({i, whole.driven[driven].target});
  }
}

void SolidEngine::set_strength_factor(std::uint32_t slot, std::span<const std::uint32_t> nodes, float factor) {
  if (!entry(slot).fracture) return;
  entry(slot).fracture->set_factor(nodes, factor);
  entry(slot).hash_fresh = false;
}

std::vector<float> SolidEngine::strength_factors(std::uint32_t slot) const {
  const Entry& solid = entry(slot);
  if (solid.fracture && !solid.fracture->factors().empty()) return solid.fracture->factors();
  return std::vector<float>(solid.body->node_count(), 1.0f);
}

bool SolidEngine::is_loose(std::uint32_t slot) const {
  const Entry& solid = entry(slot);
  if (solid.fracture && solid.fracture->has_split()) return false;
  for (std::uint32_t i = 0; i < solid.body->node_count(); ++i) {
    if (solid.body->is_held(i)) return false;
  }
  return true;
}

RigidDef SolidEngine::rigid_twin(std::uint32_t slot) const {
  const Entry& solid = entry(slot);
  const SolidDef& def = solid.body->def();
  const BodyState fit = rigid_fit(*solid.body);
  const Transform body_from_world = fit.world_from_body.inverse();
  ConvexHull hull;
  for (std::uint32_t i = 0; i < solid.body->node_count(); ++i) {
    hull.points.push_back(body_from_world * solid.body->position(i));
  }
  RigidDef twin{.name = def.name, .shape = std::move(hull)};
  twin.position = fit.world_from_body.position, twin.rotation = fit.world_from_body.rotation;
  twin.velocity = fit.velocity, twin.angular_velocity = fit.angular_velocity;
  twin.mass_properties = {.mass = fit.mass,
                          .center_of_mass = body_from_world * fit.center_of_mass,
                          .inertia = inertia_in(*solid.body, fit.world_from_body.rotation)};
  twin.friction = solid.settings.friction, twin.gravity_scale = solid.settings.gravity_scale;
  twin.filter = solid.settings.filter;
  twin.allow_sleep = def.allow_sleep;
  twin.appearance = def.appearance;
  return twin;
}

void SolidEngine::add_fragment(BodyId id, Fragment& fragment) { insert(id, std::move(fragment.entry)); }

}  // namespace pliant
