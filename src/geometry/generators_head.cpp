// A head from blended solids.
#include <cmath>

#include "geometry/blended_solids.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

/// Both sides at once: z is the distance from the middle. In units of the head's height, more or less.
double skull_and_neck(Vec3d p) {
  double d = ellipsoid_distance(p - Vec3d(-0.04, 0.18, 0), {0.3, 0.29, 0.235});
  d = blend(d, ellipsoid_distance(p - Vec3d(0.1, 0, 0), {0.185, 0.28, 0.175}), 0.12);      // face
  d = blend(d, ellipsoid_distance(p - Vec3d(0.1, -0.2, 0), {0.165, 0.13, 0.145}), 0.1);    // jaw
  d = blend(d, length(p - Vec3d(0.225, -0.275, 0)) - 0.05, 0.06);                          // chin
  d = blend(d, stick_distance(p, {-0.08, -0.15, 0}, {-0.1, -0.6, 0}, 0.145, 0.16), 0.08);  // neck
  return d;
}

double face(double d, Vec3d p) {
  d = blend(d, ellipsoid_distance(p - Vec3d(0.175, -0.05, 0.11), {0.08, 0.075, 0.06}), 0.06);      // cheeks
  d = blend(d, stick_distance(p, {0.255, 0.125, 0}, {0.205, 0.13, 0.14}, 0.036, 0.03), 0.05);      // brow
  d = carve(d, length(p - Vec3d(0.325, 0.055, 0.098)) - 0.06, 0.05);                               // sockets
  d = blend(d, length(p - Vec3d(0.215, 0.058, 0.09)) - 0.052, 0.02);                               // eyes
  d = blend(d, stick_distance(p, {0.235, 0.11, 0}, {0.325, -0.05, 0}, 0.035, 0.05), 0.05);         // nose
  d = blend(d, length(p - Vec3d(0.3, -0.07, 0.036)) - 0.03, 0.03);                                 // its wings
  d = blend(d, stick_distance(p, {0.275, -0.148, 0}, {0.22, -0.163, 0.085}, 0.024, 0.012), 0.03);  // upper lip
  d = blend(d, stick_distance(p, {0.27, -0.195, 0}, {0.22, -0.177, 0.08}, 0.028, 0.012), 0.02);    // lower lip
  const Vec3d ear = p - Vec3d(-0.045, 0.02, 0.22);
  d = blend(d, ellipsoid_distance(ear, {0.06, 0.1, 0.045}), 0.03);
  return carve(d, ellipsoid_distance(ear - Vec3d(0.015, 0.005, 0.055), {0.03, 0.055, 0.03}), 0.02);
}

double head(Vec3d p) {
  p.z = std::abs(p.z);
  return carve(face(skull_and_neck(p), p), p.y + 0.5, 0.06);
}

}  // namespace

TriMesh tri_head(float size, float cell) {
  return mesh_blended({"tri_head", head, {-0.5, -0.6, -0.45}, {0.55, 0.6, 0.45}, 1, 0.97, 24}, size, cell);
}

}  // namespace pliant
