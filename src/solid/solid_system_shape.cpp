// Conjugate gradients among the changes of shape of a very stiff free body (whole_motion.h).
//
// The same preconditioner as in solid_system.cpp, with the motions of the body as a whole taken out of every vector.
// Passes are not fused: such bodies are small things of metal or glass.
#include <cmath>

#include "solid/solid_system.h"
#include "solid/whole_motion.h"

namespace pliant {

/// z = D⁻¹ r + W E⁻¹ Wᵀ r.
void SolidSystem::apply_preconditioner(Workers& workers, const SolidLayout& layout, const LaneVectors& r,
                                       LaneVectors& z) {
  const auto for_aggregates = [&](auto&& visit) {
    parallel_for(workers, chunks_.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::uint32_t a = chunks_[begin].begin; a < chunks_[end - 1].end; ++a) visit(a);
    });
  };
  for_aggregates([&](std::uint32_t a) { restrict_to(a, layout, r); });
  solve_coarse(workers);
  for_aggregates([&](std::uint32_t a) {
    for (std::uint32_t g = layout.aggregate_starts[a]; g < layout.aggregate_starts[a + 1]; ++g) {
      z.set_group(g, load_sym8(inverse_.data() + 48 * g) * r.group(g) + prolong(a, g));
    }
  });
}

double SolidSystem::dot_product(Workers& workers, const SolidLayout& layout, const LaneVectors& a,
                                const LaneVectors& b) {
  const Sums total = reduce(workers, [&](const Chunk& chunk) {
    Sums out;
    for (std::uint32_t g = layout.aggregate_starts[chunk.begin]; g < layout.aggregate_starts[chunk.end]; ++g) {
      out.product += static_cast<double>(sum(dot(a.group(g), b.group(g))));
    }
    return out;
  });
  return total.product;
}

SolveResult SolidSystem::solve_shape(Workers& workers, const SolidLayout& layout, const LaneVectors& positions,
                                     WholeMotion& whole, LaneVectors& x, LaneVectors& r, double threshold,
                                     int max_iterations) {
  const auto for_groups = [&](auto&& visit) {
    parallel_for(workers, layout.slot_count / 8, 64, [&](std::size_t begin, std::size_t end) {
      for (std::size_t g = begin; g < end; ++g) visit(g);
    });
  };
  SolveResult result;
  z_.assign(layout.slot_count);

  for (double rz_before = 1;;) {
    result.residual = norm(workers, layout, r);
    result.converged = result.residual <= threshold;
    if (result.converged || result.iterations >= max_iterations) break;
    apply_preconditioner(workers, layout, r, z_);
    whole.remove_motion(workers, positions, z_);
    const double rz = dot_product(workers, layout, r, z_);
    const Float8 beta = broadcast(result.iterations == 0 ? 0.0f : static_cast<float>(rz / rz_before));
    for_groups([&](std::size_t g) { p_.set_group(g, z_.group(g) + p_.group(g) * beta); });
    for_groups(
        [&](std::size_t g) { q_.set_group(g, (tied_part(g, p_.group(g)) + internal(layout, g, p_)) * free_mask(g)); });
    whole.remove_impulse(workers, positions, q_);
    const double curvature = dot_product(workers, layout, p_, q_);
    if (!(rz > 0) || !(curvature > 0) || !std::isfinite(rz) || !std::isfinite(curvature)) break;
    const Float8 alpha = broadcast(static_cast<float>(rz / curvature));
    for_groups([&](std::size_t g) {
      x.set_group(g, x.group(g) + p_.group(g) * alpha);
      r.set_group(g, r.group(g) - q_.group(g) * alpha);
    });
    rz_before = rz;
    ++result.iterations;
  }
  return result;
}

}  // namespace pliant
