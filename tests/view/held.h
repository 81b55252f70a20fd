// A body by itself that is held by a point, for tests of the mouse's spring.
#pragma once

#include <memory>

#include "embed/render_surface.h"

#include "view/grab.h"

namespace pliant {

struct Held {
  World world;
  BodyId body;
  SurfacePublisher publisher;
  std::unique_ptr<Grab> grab;

  template <typename Def>
  Held(const Def& def, Vec3 at, const WorldDef& world_def = {}) : world(world_def) {
    body = world.add(def).value();
    world.commit_edits();
    grab = std::make_unique<Grab>(world, surface(), at);
  }
  const RenderSurface& surface() { return publisher.update(world)[0]; }
  Vec3 point() { return grab->position(surface()); }
  void run(double seconds, float dt) {
    for (double t = 0; t < seconds; t += double{dt}) {
      grab->apply(world, surface(), dt);
      world.step(dt);
    }
  }
};

}  // namespace pliant
