// Bodies of glass in files of meshes, and what stands behind them.
#pragma once

#include "engine/orrery.h"

typedef enum glass_shape {
    GLASS_SPHERE, // of radius 1 around the origin, with smooth normals
    GLASS_SLAB    // 4 x 4 wide and 1 thick: z from -0.5 to 0.5; without normals
} glass_shape;

// Writes a file of glTF and returns its path. material: members of a material of glTF, "extensions" too
const char *write_glass(const char *name, glass_shape shape, const char *material);

// Clear glass of an index of refraction and a roughness; more: further extensions, after a comma
#define GLASS(roughness, ior, more)                                                                          \
    "\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"roughnessFactor\":" roughness "},"                     \
    "\"extensions\":{\"KHR_materials_transmission\":{\"transmissionFactor\":1},"                             \
    "\"KHR_materials_ior\":{\"ior\":" ior "}" more "}"
#define CLOSED ",\"KHR_materials_volume\":{\"thicknessFactor\":1}"

// A scene without light but, where `ambient` is above 0, that from everywhere.
orr_scene *dark_scene(orr_engine *engine, float ambient);

// A panel across z that shines by itself: red grows with x from 0 to 1 over -half .. half, green with y,
// linear; blue is 1/2.
void add_shining_panel(orr_scene *scene, float z, float half);
// A panel across z that shines, white and dark blue in squares that are `half` / 4 wide.
void add_checker(orr_scene *scene, float z, float half);
// The same of splats, orange and grey.
void add_cloud(orr_scene *scene, float z, float half);
