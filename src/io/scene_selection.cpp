// Selections of nodes, and held nodes.
#include <fmt/format.h>

#include "io/scene_node_body.h"

namespace pliant {
namespace {

struct SelectionDraft {
  std::optional<NodeSelection> selected;
  int count = 0;

  void set(NodeSelection selection) { selected = std::move(selection), ++count; }
};

void read_box(const SceneReader& r, SelectionDraft& out) {
  std::vector<Vec3> corners;
  if (!read_points(r, corners)) return;
  if (corners.size() != 2) return r.refuse(fmt::format("expected two corners, found {}", corners.size()));
  out.set(NodeBox{{min_each(corners[0], corners[1]), max_each(corners[0], corners[1])}});
}

const Fields<NodeHalfSpace>& half_space_fields() {
  static const Fields<NodeHalfSpace> fields = {
      field<NodeHalfSpace>("normal", [](const SceneReader& r, NodeHalfSpace& h) { read_direction(r, h.normal); })
          .required(),
      field("offset", &NodeHalfSpace::offset)};
  return fields;
}

const Fields<NodeSlab>& slab_fields() {
  static const Fields<NodeSlab> fields = {
      field<NodeSlab>("normal", [](const SceneReader& r, NodeSlab& s) { read_direction(r, s.normal); }).required(),
      field("offset", &NodeSlab::offset), field("thickness", &NodeSlab::thickness, kNotNegative)};
  return fields;
}

const Fields<NearestNodes>& nearest_fields() {
  static const Fields<NearestNodes> fields = {field("point", &NearestNodes::point).required(),
                                              field("count", &NearestNodes::count, between(1, 1e9))};
  return fields;
}

void read_list(const SceneReader& r, SelectionDraft& out) {
  NodeList list;
  const bool good = r.for_elements("an array of node numbers", [&](const SceneReader& e) {
    std::uint32_t node = 0;
    if (read(e, node, kNotNegative)) list.nodes.push_back(node);
  });
  if (good) out.set(std::move(list));
}

const Fields<SelectionDraft>& selection_fields() {
  static const Fields<SelectionDraft> fields = {field<SelectionDraft>("box", read_box),
                                                field<SelectionDraft>("half_space",
                                                                      [](const SceneReader& r, SelectionDraft& s) {
                                                                        NodeHalfSpace plane;
                                                                        if (read_fields(r, plane, half_space_fields()))
                                                                          s.set(plane);
                                                                      }),
                                                field<SelectionDraft>("slab",
                                                                      [](const SceneReader& r, SelectionDraft& s) {
                                                                        NodeSlab slab;
                                                                        if (read_fields(r, slab, slab_fields()))
                                                                          s.set(slab);
                                                                      }),
                                                field<SelectionDraft>("set",
                                                                      [](const SceneReader& r, SelectionDraft& s) {
                                                                        std::string name;
                                                                        if (read(r, name))
                                                                          s.set(NodeSet{std::move(name)});
                                                                      }),
                                                field<SelectionDraft>("nearest",
                                                                      [](const SceneReader& r, SelectionDraft& s) {
                                                                        NearestNodes nearest;
                                                                        if (read_fields(r, nearest, nearest_fields()))
                                                                          s.set(nearest);
                                                                      }),
                                                field<SelectionDraft>("list", read_list)};
  return fields;
}

const Fields<HeldNodes>& held_fields() {
  static const Fields<HeldNodes> fields = {
      name_field<HeldNodes>(),
      field<HeldNodes>("nodes", [](const SceneReader& r, HeldNodes& h) { read_selection(r, h.nodes); }).required()};
  return fields;
}

}  // namespace

void read_held(const SceneReader& r, std::vector<HeldNodes>& out) {
  r.for_elements("an array of held parts", [&](const SceneReader& e) {
    HeldNodes held;
    if (read_fields(e, held, held_fields())) out.push_back(std::move(held));
  });
}

bool read_selection(const SceneReader& r, NodeSelection& out) {
  if (const auto* word = r.value().as<std::string>()) {
    if (*word == "all") return out = AllNodes{}, true;
    return r.refuse("expected \"all\" or an object that selects nodes"), false;
  }
  SelectionDraft draft;
  if (!read_fields(r, draft, selection_fields())) return false;
  if (draft.count != 1) {
    r.refuse(fmt::format("exactly one of `box`, `half_space`, `slab`, `set`, `nearest` and `list` is needed, found {}",
                         draft.count));
    return false;
  }
  out = std::move(*draft.selected);
  return true;
}

void describe_selections(std::vector<FieldSet>& sets) {
  sets.push_back({"selection", infos(selection_fields())});
  sets.push_back({"half_space", infos(half_space_fields())});
  sets.push_back({"slab", infos(slab_fields())});
  sets.push_back({"nearest", infos(nearest_fields())});
  sets.push_back({"held", infos(held_fields())});
}

}  // namespace pliant
