// "kind": "jelly"
#include "io/scene_node_body.h"

namespace pliant {
namespace {

using JellyDraft = TetBodyDraft<JellyDef>;

void read_method(const SceneReader& r, JellyDraft& out) {
  static const std::vector<std::string> words = {"mass_spring", "position_based", "shape_matching"};
  constexpr JellyMethod kMethods[] = {JellyMethod::MassSpring, JellyMethod::PositionBased, JellyMethod::ShapeMatching};
  if (const auto index = read_word(r, words)) out.method = kMethods[*index];
}

Fields<JellyDraft> stuff_fields() {
  return {field<JellyDraft>("method", read_method),
          inherited<JellyDraft>("density", &JellyDef::density, kPositive),
          inherited<JellyDraft>("young_modulus", &JellyDef::young_modulus, kPositive),
          inherited<JellyDraft>("poisson_ratio", &JellyDef::poisson_ratio, between(0, 0.49)),
          inherited<JellyDraft>("damping", &JellyDef::damping, kNotNegative),
          inherited<JellyDraft>("thickness", &JellyDef::thickness, kPositive)};
}

}  // namespace

Kind<SceneBuilder> jelly_body_kind() {
  return kind<SceneBuilder, JellyDraft>("jelly", tet_body_fields<JellyDef>(stuff_fields()), finish_tet_body<JellyDef>);
}

}  // namespace pliant
