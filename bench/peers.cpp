// The engines were measured on a two-core machine with AVX2, on the same input; the papers tell their own figures:
// Galoppo et al. 2006 (layered bodies), Parker and O'Brien 2009 (fracture), Vezzano et al. 2015 (jelly, rows).
#include "bench/peers.h"

#include <algorithm>

namespace pliant {
namespace {

constexpr std::string_view kSameResidual = "one thread, residual 1e-3";
constexpr std::string_view kLooseResidual = "one core, no less on two, residual 0.07 to 0.18";
constexpr std::string_view kDeformationTextures = "frames of 0.5 to 6 a second; 120K nodes, 1M tets, 15K contacts/s";

// Those of one benchmark stand together.
constexpr Peer kPeers[] = {
    {"solid_beam_2k", "SOFA", 4.3, 0, kSameResidual},
    {"solid_beam_2k", "Vega", 8, 0, kSameResidual},
    {"solid_beam_10k", "SOFA", 23, 0, kSameResidual},
    {"solid_beam_10k", "Vega", 43, 0, kSameResidual},
    {"solid_beam_50k", "SOFA", 168, 0, kSameResidual},
    {"solid_beam_50k", "Vega", 443, 0, kSameResidual},
    {"solid_beam_100k", "SOFA", 356, 0, kSameResidual},
    {"solid_beam_100k", "Vega", 1160, 0, kSameResidual},
    {"solid_beam_stiff_2k", "FEMFX", 1.57, 0, kLooseResidual},
    {"solid_beam_stiff_10k", "FEMFX", 6.4, 0, kLooseResidual},
    {"solid_beam_stiff_50k", "FEMFX", 33, 0, kLooseResidual},
    {"solid_beam_stiff_100k", "FEMFX", 90, 0, kLooseResidual},
    {"cloth_sphere_51", "Jolt", 1.1, 0, "stretches by 37 %"},
    {"cloth_sphere_51", "Jolt", 10, 0, "stretches by 4.6 %"},
    {"cloth_sphere_51", "Rapier", 27, 0, "as WebAssembly; stretches by 37 %"},
    {"cloth_sphere_201", "Jolt, Bullet, Rapier", 0, 0, "explode, tunnel or stretch by more than 1000 %"},
    {"cloth_rows_225", "Vezzano et al. 2015", 20, 0, "30,000 rows"},
    {"jelly", "Vezzano et al. 2015", 6, 14, ""},
    {"jelly", "Bullet", 115, 0, "the one variant of it that is correct"},
    {"solid_pile_27", "FEMFX", 43, 0, "one core, 2,900 contacts"},
    {"solid_pile_27", "FEMFX", 30, 0, "two cores"},
    {"solid_pile_125", "FEMFX", 336, 0, "one core"},
    {"wall_2k", "FEMFX", 13, 38, "one core, 200 pieces"},
    {"wall_10k", "FEMFX", 48, 165, "one core, 545 pieces"},
    {"glass_cell", "Parker and O'Brien 2009", 0, 0, "real time on four cores"},
    {"layered_31k_soft", "Galoppo et al. 2006", 0, 0, kDeformationTextures},
    {"layered_31k_firm", "Galoppo et al. 2006", 0, 0, kDeformationTextures},
    {"tires", "Galoppo et al. 2006", 2000, 0, "0.5 frames a second"},
};

}  // namespace

std::span<const Peer> peers_of(std::string_view benchmark) {
  const auto is_of = [&](const Peer& peer) { return peer.benchmark == benchmark; };
  const Peer* first = std::find_if(std::begin(kPeers), std::end(kPeers), is_of);
  return {first, std::find_if_not(first, std::end(kPeers), is_of)};
}

}  // namespace pliant
