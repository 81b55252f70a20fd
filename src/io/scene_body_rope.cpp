// "kind": "rope"
#include <cmath>

#include "io/scene_node_body.h"

namespace pliant {
namespace {

using RopeDraft = NodeBodyDraft<RopeDef>;

const Fields<RopeMaterial>& material_fields() {
  static const Fields<RopeMaterial> fields = {field("density", &RopeMaterial::density, kPositive),
                                              field("bend_stiffness", &RopeMaterial::bend_stiffness, kNotNegative),
                                              field("stretch_stiffness", &RopeMaterial::stretch_stiffness, kPositive),
                                              field("damping", &RopeMaterial::damping, kNotNegative),
                                              field("strength", &RopeMaterial::strength, kPositive)};
  return fields;
}

Fields<RopeDraft> own_fields() {
  return {name_field<RopeDraft>(),
          field<RopeDraft>("path",
                           [](const SceneReader& r, RopeDraft& d) {
                             std::vector<Vec3> path;
                             if (!read_points(r, path)) return;
                             if (path.size() >= 2) return void(d.path = std::move(path));
                             r.refuse(fmt::format("a rope needs at least two points, found {}", path.size()));
                           })
              .required(),
          inherited<RopeDraft>("closed", &RopeDef::closed),
          inherited<RopeDraft>("segment", &RopeDef::segment, kPositive),
          inherited<RopeDraft>("radius", &RopeDef::radius, kPositive),
          field<RopeDraft>("material",
                           [](const SceneReader& r, RopeDraft& d) { read_fields(r, d.material, material_fields()); }),
          inherited<RopeDraft>("self_collision", &RopeDef::self_collision)};
}

/// About as many nodes as the world will make of it.
std::size_t count_nodes(const RopeDef& def) {
  constexpr double kCeiling = 1e12;
  double nodes = 1;
  const std::size_t points = def.path.size();
  for (std::size_t i = 1; i < points + (def.closed ? 1 : 0); ++i) {
    const float distance = length(def.path[i % points] - def.path[i - 1]);
    nodes += std::ceil(static_cast<double>(distance) / static_cast<double>(def.segment));
  }
  return static_cast<std::size_t>(nodes < kCeiling ? nodes : kCeiling);
}

bool finish(const SceneReader& r, RopeDraft& draft, SceneBuilder& out) {
  if (draft.closed && draft.path.size() < 3) {
    r.refuse(Error{Error::Code::InvalidArgument, "a closed rope needs at least three points", {}, "path"});
    return false;
  }
  return add_copies(r, draft, count_nodes(draft), "nodes", out);
}

}  // namespace

Kind<SceneBuilder> rope_body_kind() {
  return kind<SceneBuilder, RopeDraft>("rope", own_fields() + node_body_fields<RopeDraft, RopeDef>(), finish);
}

void describe_ropes(std::vector<FieldSet>& sets) { sets.push_back({"rope_material", infos(material_fields())}); }

}  // namespace pliant
