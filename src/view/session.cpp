#include "view/session.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace pliant {
namespace {

constexpr float kRayLength = 1e5f;  // m

}  // namespace

Session::Session(Scene scene, ScenePlayer player, std::string name)
    : scene_(std::move(scene)),
      player_(std::move(player)),
      name_(std::move(name)),
      content_(scene_),
      dt_(scene_.world.dt),
      gravity_(scene_.world.gravity) {}

Result<std::unique_ptr<Session>> Session::load(const std::filesystem::path& file, int threads, SceneErrors* errors) {
  Result<Scene> scene = load_scene(file, errors);
  if (!scene) return scene.error();
  return create(std::move(*scene), file.stem().string(), threads, errors);
}

Result<std::unique_ptr<Session>> Session::create(Scene scene, std::string name, int threads, SceneErrors* errors) {
  if (threads > 0) scene.world.threads = threads;
  Result<ScenePlayer> player = ScenePlayer::create(scene);
  if (!player) {
    if (errors != nullptr) errors->list.push_back(player.error());
    return player.error();
  }
  return std::unique_ptr<Session>(new Session(std::move(scene), std::move(*player), std::move(name)));
}

const SceneContent& Session::look() {
  content_.update(player_);
  return content_;
}

void Session::step() {
  if (grab_) {
    const RenderSurface* surface = look().surface(grab_->body());
    if (surface != nullptr) {
      grab_->apply(world(), *surface, dt_);
    } else {
      grab_.reset();  // the scene took the body away
    }
  }
  player_.timeline().apply(world(), dt_);
  history_.add(world().step(dt_));
  for (const Crack& crack : world().events().cracks) cracks_.push_back({crack, world().time()});
  while (!cracks_.empty() && world().time() - cracks_.front().time > kCracksShown) cracks_.pop_front();
}

void Session::restart() {
  Result<ScenePlayer> player = ScenePlayer::create(scene_);
  if (!player) return;  // it could be made once, so this does not happen
  player_ = std::move(*player);
  content_ = SceneContent(scene_);
  history_ = {};
  tunings_.clear();
  balls_.clear();
  cracks_.clear();
  grab_.reset();
  if (!(gravity_ == scene_.world.gravity)) world().set_gravity(gravity_);
}

void Session::set_dt(float dt) {
  if (dt > 0 && dt <= 1) dt_ = dt;
}

void Session::set_gravity(Vec3 gravity) {
  if (is_finite(gravity) && world().set_gravity(gravity).ok()) gravity_ = gravity;
}

std::optional<BodyTuning> Session::tuning(BodyId body) const {
  if (const auto changed = tunings_.find(body); changed != tunings_.end()) return changed->second;
  if (!world().contains(body)) return std::nullopt;
  const auto of_nodes = [](const auto& def) { return BodyTuning{def.friction, std::nullopt, def.gravity_scale}; };
  if (const Result<const SolidDef*> solid = world().solid_def(body)) return of_nodes(**solid);
  if (const Result<const LayeredDef*> layered = world().layered_def(body)) return of_nodes(**layered);
  if (const Result<const ParticleDef*> particle = world().particle_def(body)) return std::visit(of_nodes, **particle);
  const Result<const RigidDef*> def = world().def(body);
  if (!def) return std::nullopt;
  return BodyTuning{(*def)->friction, (*def)->restitution, (*def)->gravity_scale};
}

void Session::set_tuning(BodyId body, const BodyTuning& tuning) {
  const std::optional<BodyTuning> old = this->tuning(body);
  if (!old) return;
  bool ok = true;
  if (tuning.friction != old->friction) ok = world().set_friction(body, tuning.friction).ok() && ok;
  if (tuning.restitution && tuning.restitution != old->restitution) {
    ok = world().set_restitution(body, *tuning.restitution).ok() && ok;
  }
  if (tuning.gravity_scale != old->gravity_scale) ok = world().set_gravity_scale(body, tuning.gravity_scale).ok() && ok;
  if (ok) tunings_[body] = tuning;
}

std::optional<RayHit> Session::hit(const Ray& ray) const {
  return world().ray_cast(ray.from, ray.direction, kRayLength);
}

bool Session::can_be_grabbed(BodyId body) const {
  const Result<BodyState> state = world().state(body);
  return state && state->mass > 0 && !state->quarantined;
}

bool Session::grab(const Ray& ray) {
  const std::optional<RayHit> found = hit(ray);
  if (!found || !can_be_grabbed(found->body)) return false;
  const RenderSurface* surface = look().surface(found->body);
  if (surface == nullptr) return false;
  grab_.emplace(world(), *surface, found->position);
  picked_ = found->body;
  return true;
}

std::optional<Vec3> Session::grabbed_position() {
  const RenderSurface* surface = grab_ ? content_.surface(grab_->body()) : nullptr;
  return surface != nullptr ? std::optional(grab_->position(*surface)) : std::nullopt;
}

void Session::throw_ball(const Ray& ray, const BallTool& ball) {
  RigidDef def;
  def.shape = Sphere{ball.radius};
  def.density = ball.density;
  def.position = ray.from + 2 * ball.radius * ray.direction;
  def.velocity = ball.speed * ray.direction;
  def.continuous = true;
  def.restitution = 0.3f;
  def.appearance = {.color = {0.85f, 0.30f, 0.06f}, .roughness = 0.35f};
  const Result<BodyId> id = world().add(def);
  if (!id) return;  // the step's report tells
  balls_.push_back(*id);
  if (balls_.size() <= kMostBalls) return;
  if (world().contains(balls_.front())) world().remove(balls_.front());
  balls_.pop_front();
}

Status Session::explode(const Explosion& explosion) { return world().explode(explosion); }

bool Session::paint(const Ray& ray, const PaintTool& brush) {
  const std::optional<RayHit> found = hit(ray);
  if (!found || world().kind(found->body) != BodyKind::Solid) return false;
  const std::span<const Vec3> nodes = *world().node_positions(found->body);
  NodeList list;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (length(nodes[i] - found->position) <= brush.radius) list.nodes.push_back(i);
  }
  return !list.nodes.empty() && world().set_strength_factor(found->body, list, brush.factor).ok();
}

std::string body_title(const World& world, BodyId body) {
  if (!world.contains(body)) return {};
  const std::string_view name = world.name(body);
  return name.empty() ? fmt::format("body {}", body.index) : std::string(name);
}

}  // namespace pliant
