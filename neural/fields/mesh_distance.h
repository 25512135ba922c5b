// Signed distances to a triangle mesh: a bounding volume hierarchy for the nearest point, and for the sign
// the generalised winding number (Jacobson et al. 2013), of far triangles by their moments (Barill et al.
// 2018, "Fast winding numbers"). The mesh may be any: holes are closed by what is around them, doubled and
// crossing triangles do no harm. Signs are those of the sum over all triangles.
#pragma once

#include "engine/core/jobs.h"

typedef struct orr_mesh_distance orr_mesh_distance;

// positions: vertex_count x 3, finite; indices: triangle_count x 3. Both are copied. Triangles without area
// are left out; ORR_ERROR_FORMAT when none is left. `jobs` (NULL: this thread alone) make no difference to
// the bits. `name` is for messages.
orr_result orr_mesh_distance_create(const float *positions, int64_t vertex_count, const uint32_t *indices,
                                    int64_t triangle_count, orr_jobs *jobs, const char *name,
                                    orr_mesh_distance **mesh, orr_error *error);
void orr_mesh_distance_destroy(orr_mesh_distance *mesh); // NULL is allowed

// Does the mesh enclose little of anything, as a terrain or a wall without thickness? From then on signed
// distances of such a mesh are negative behind it: where its triangles are seen clockwise.
bool orr_mesh_distance_find_sheet(orr_mesh_distance *mesh);

// Distance to the nearest triangle. `bound`: one that is known not to be less, which makes it faster;
// INFINITY: none.
float orr_mesh_distance_to(const orr_mesh_distance *mesh, const float point[3], float bound);
// How often the mesh winds around the point: 1 inside and 0 outside, when it is closed. The
// error has a bound of about 1e-3; what the tests see is below 2e-5.
float orr_mesh_winding(const orr_mesh_distance *mesh, const float point[3]);
// Distances to `count` points, points[k x count + i]: negative where the winding number is above a half, or
// below minus one half (a mesh turned inside out). Points that follow each other should be near each other: a
// point is not farther from the mesh than the one before it plus the distance between them, and its winding
// number is that one's plus what the segment between them crosses, unless the mesh has holes.
void orr_mesh_distance_signed(const orr_mesh_distance *mesh, const float *points, int count,
                              float *distances);
