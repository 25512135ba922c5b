// From samples in the studio to a splat cloud with spherical harmonics.
#pragma once

#include "assets/sampling.h"
#include "assets/studio.h"
#include "engine/core/jobs.h"

// The cloud has the axes of splat files: y down, that is (x, -y, -z) of the shape. Besides the samples it has
// the glow of the sun.
orr_result splat_samples(const studio *scene, const surface_sample *samples, int count, int sh_degree,
                         orr_jobs *jobs, orr_splats **splats, orr_error *error);
