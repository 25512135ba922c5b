// Fields that rays go through, those of smooth surfaces and pieces of paths: the fields of a draw list,
// marched a few rays at a time by whichever job asks.
#pragma once

#include "engine/core/jobs.h"
#include "engine/core/memory.h"
#include "neural/fields/field_ray.h"
#include "render/draw.h"
#include "render/reference/gaussians.h"

enum { ORR_FIELD_RAYS = 16 }; // marched together, at most; their samples fill blocks of networks

typedef struct orr_field_rays orr_field_rays;

// In the arena, with scratch for the jobs' workers. The list's fields must outlive it, and nothing else may
// draw them meanwhile. ORR_ERROR_MEMORY; ORR_ERROR_ARGUMENT for a field without extent.
orr_result orr_field_rays_create(orr_jobs *jobs, orr_arena *arena, const orr_draw_list *list,
                                 orr_field_rays **fields, orr_error *error);
// What each of `count` rays shows of all fields between its ends, merged by depth as frames merge them, in
// lengths of its direction, a unit vector. For bodies of the jobs; the same bits whichever body asks.
void orr_field_rays_meet(orr_field_rays *fields, const orr_ray *rays, int count, orr_field_seen *seen);
// How what fields show on each of them lies, by four rays beside each between the same ends: a unit normal in
// the world, towards where the ray begins, and whether it is known, 1 or 0. Of rays that show less than
// CAPTURED_ALPHA nothing is known.
void orr_field_rays_normals(orr_field_rays *fields, const orr_ray *rays, int count,
                            const orr_field_seen *seen, float (*normals)[4]);
// Splats before the end of a ray, what fields show at their depth among them, and the splats behind that.
orr_veil orr_field_rays_veil(const orr_gaussians *splats, const orr_gaussian_walk *walk, const orr_ray *ray,
                             const orr_field_seen *seen);
