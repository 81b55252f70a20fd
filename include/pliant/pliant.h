// All of pliant's public API.
#pragma once

#include "pliant/defs.h"
#include "pliant/generators.h"
#include "pliant/ids.h"
#include "pliant/math.h"
#include "pliant/mesh.h"
#include "pliant/mesh_io.h"
#include "pliant/queries.h"
#include "pliant/recording.h"
#include "pliant/report.h"
#include "pliant/result.h"
#include "pliant/scene.h"
#include "pliant/shapes.h"
#include "pliant/tetrahedralize.h"
#include "pliant/version.h"
#include "pliant/world.h"
