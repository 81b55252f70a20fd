// A layered body as a member of an island of all kinds of bodies (solve/island_guest.h).
//
// Its contacts with what does not give way, and the limits of its skin, are rows of its own system; those with others
// are rows of the island.
#pragma once

#include <span>
#include <vector>

#include "layered/layered_body.h"
#include "layered/layered_solver.h"
#include "layered/layered_system.h"
#include "solve/island_guest.h"

namespace pliant {

class LayeredGuest final : public IslandGuest {
 public:
  /// The body has begun the substep, and has its own rows, when the island begins.
  explicit LayeredGuest(LayeredBody& body) : body_(body), system_(body.system()) {}

  void begin(Workers& workers, std::span<const std::uint32_t> nodes) override;
  double mass() const override { return system_.mass(); }
  bool is_free() const override { return !system_.core_is_fixed(); }
  double radius() const override { return radius_; }
  int max_iterations() const override { return body_.tolerance().max_iterations; }
  float allowed_violation() const override { return body_.tolerance().violation; }
  void get_arms(std::span<Vec3d> arms) const override;
  void get_responses(std::span<LaneSym3<float>> responses) const override;
  void get_velocities(std::span<Vec3> velocities) const override;
  void get_directions(std::span<Vec3> directions) const override;

  void start_rows(double heaviest) override;
  void begin_rows() override { system_.begin_round(); }
  void add_row_impulses(float sign) override { system_.add_row_impulses(sign); }
  RowProgress update_rows() override { return system_.update_rows().progress; }

  void add_impulses(std::span<const Vec3> impulses) override;
  void set_blocks(Workers& workers, std::span<const LaneSym3<float>> blocks) override;
  void get_whole_matrix(double (&block)[36]) const override;
  double precondition(Workers& workers, double step) override;
  Vector6 whole_force() const override;
  void set_whole_motion(const Vector6& motion) override;
  bool is_converged() const override;
  double residual() const override { return scale_ > 0 ? residual_ / scale_ : 0; }
  void renew_direction(Workers& workers, double beta) override { system_.turn_direction(workers, motion_, beta); }
  double multiply(Workers& workers) override { return system_.multiply(workers); }
  double add_to_product(std::span<const Vec3> forces) override;

  Vector6 missing_impulse(Workers& workers) override { return force_of_level(body_.missing_impulse(workers)); }
  void move(const Vector6& motion) override { system_.add_whole(motion_of_level(motion)); }

  std::optional<double> free_motion() const override;
  double stored_energy(Workers& workers) const override { return body_.elastic_energy(workers); }
  float asked_speed() const override { return body_.asked_speed(); }
  double energy_after(Workers& workers, float dt) override { return body_.energy_after(workers, dt); }
  Vec3d momentum() const override;
  bool bound_motion(Workers& workers, double most, float dt) override;

 private:
  bool is_of_core(std::uint32_t point) const { return point >= body_.node_count(); }
  Vec3 arm(std::uint32_t point) const;
  Vector6 force_of_level(Vector6 force) const;
  Vector6 motion_of_level(Vector6 motion) const;

  LayeredBody& body_;
  LayeredSystem& system_;
  std::vector<std::uint32_t> nodes_;  ///< those of the body, then points of its core (`LayeredBody::core_point`)
  double radius_ = 1, scale_ = 0, residual_ = 0;
  double free_motion_ = 0;
  double product_ = 0;  ///< r·z but for the whole
  Vector6 motion_{};    ///< of the whole
};

}  // namespace pliant
