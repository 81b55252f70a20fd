// The splinters of a solid: patterns by kind, or pieces from a file.
#include <fmt/format.h>

#include "io/scene_node_body.h"
#include "pliant/mesh_io.h"

namespace pliant {
namespace {

/// A pattern while it is read, with what all of them have.
template <typename Pattern>
struct PatternDraft : Pattern {
  float variation = SplinterDef{}.variation;
  std::uint32_t seed = 1;
  bool has_grain = false;
};
struct FileDraft {
  std::string path;
  float scale = 1;
};

template <typename Pattern>
Kind<SplinterSource> pattern_kind(std::string name, Fields<PatternDraft<Pattern>> fields) {
  using Draft = PatternDraft<Pattern>;
  fields.push_back(field("variation", &Draft::variation, between(0, 1)));
  fields.push_back(field("seed", &Draft::seed, kNotNegative));
  return kind<SplinterSource, Draft>(std::move(name), std::move(fields),
                                     [](const SceneReader&, Draft& draft, SplinterSource& out) {
                                       out.def.pattern = static_cast<const Pattern&>(draft);
                                       out.def.variation = draft.variation;
                                       out.def.seed = draft.seed;
                                       out.has_grain = draft.has_grain;
                                       return true;
                                     });
}

bool load_file(const SceneReader& r, FileDraft& draft, SplinterSource& out) {
  Result<MeshFile> loaded = load_mesh(r.builder().resolve(draft.path));
  if (!loaded) return r.refuse(loaded.error()), false;
  for (Vec3& v : loaded->surface.vertices) v *= draft.scale;
  out.pieces = objects_of(*loaded);
  if (out.pieces.empty()) return r.refuse(fmt::format("{} holds no triangles", draft.path)), false;
  return true;
}

const std::vector<Kind<SplinterSource>>& splinter_kinds() {
  using Wood = PatternDraft<WoodSplinters>;
  using Brick = PatternDraft<BrickSplinters>;
  using Glass = PatternDraft<GlassSplinters>;
  using Grain = PatternDraft<GrainSplinters>;
  static const std::vector<Kind<SplinterSource>> kinds = {
      pattern_kind<WoodSplinters>(
          "wood",
          {field<Wood>("grain", [](const SceneReader& r, Wood& d) { d.has_grain = read_direction(r, d.grain); }),
           inherited<Wood>("length", &WoodSplinters::length, kPositive),
           inherited<Wood>("width", &WoodSplinters::width, kPositive),
           inherited<Wood>("slant", &WoodSplinters::slant, kNotNegative)}),
      pattern_kind<BrickSplinters>(
          "brick", {inherited<Brick>("size", &BrickSplinters::size, kPositive),
                    inherited<Brick>("joint", &BrickSplinters::joint, kNotNegative),
                    field<Brick>("along", [](const SceneReader& r, Brick& d) { read_direction(r, d.along); }),
                    field<Brick>("joint_color", [](const SceneReader& r, Brick& d) { read_color(r, d.joint_color); })}),
      pattern_kind<GlassSplinters>("glass", {inherited<Glass>("size", &GlassSplinters::size, kPositive),
                                             inherited<Glass>("center", &GlassSplinters::center)}),
      pattern_kind<GrainSplinters>("grain", {inherited<Grain>("size", &GrainSplinters::size, kPositive)}),
      kind<SplinterSource, FileDraft>(
          "file", {field("path", &FileDraft::path).required(), field("scale", &FileDraft::scale, kPositive)},
          load_file)};
  return kinds;
}

}  // namespace

void read_splinters(const SceneReader& r, std::optional<SplinterSource>& out) {
  SplinterSource source;
  if (read_kinds(r, "splinters", splinter_kinds(), source)) out = std::move(source);
}

bool make_splinters(const SceneReader& r, const SplinterSource& source, SolidDef& solid) {
  SplinterDef def = source.def;
  def.color = solid.appearance.color;
  if (auto* wood = std::get_if<WoodSplinters>(&def.pattern); wood && !source.has_grain) {
    wood->grain = solid.material.grain_direction;
  }
  Result<Splinters> made =
      source.pieces.empty() ? make_splinters(solid.mesh, def) : splinters_from(source.pieces, solid.mesh);
  if (!made) return r.refuse(made.error()), false;
  solid.splinters = std::make_shared<const Splinters>(std::move(*made));
  return true;
}

void describe_splinters(std::vector<FieldSet>& sets) {
  for (const Kind<SplinterSource>& k : splinter_kinds()) sets.push_back({"splinters_" + k.name, k.fields});
}

}  // namespace pliant
