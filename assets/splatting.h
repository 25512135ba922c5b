// From samples in the studio to a splat cloud with spherical harmonics.
#pragma once

#include "assets/sampling.h"
#include "assets/studio.h"
#include "engine/core/jobs.h"

// The place and opacity of splat i, a flat disc; in the axes of splat files: y down, that is (x, -y, -z) of
// the shape.
void splat_place(const orr_splats_view *out, int64_t i, const surface_sample *sample, float opacity);

// Makes the splats of samples of a surface; tree: of the surface, for light.
typedef orr_result splat_maker(const ray_tree *tree, const surface_sample *samples, int count, orr_jobs *jobs,
                               orr_splats **splats, orr_error *error);

// Saves a cloud of at most `most` samples of a surface. `skip`: a material rays pass through, or -1.
orr_result splat_surface(const shape_mesh *surface, int skip, int most, splat_maker *make, const char *path,
                         orr_error *error);

// Besides the samples the cloud has the glow of the sun.
orr_result splat_samples(const studio *scene, const surface_sample *samples, int count, int sh_degree,
                         orr_jobs *jobs, orr_splats **splats, orr_error *error);
