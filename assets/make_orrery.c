// Makes the scene that ships with the engine: a brass orrery, as a splat cloud and as a mesh.
//
//     make_orrery CLOUD MESH.glb
#include "assets/glb.h"
#include "assets/material.h"
#include "assets/orrery.h"
#include "assets/splatting.h"
#include "engine/core/memory.h"

#include <stdio.h>

enum { SPLATS = 115000, SH_DEGREE = 2 };

static orr_result make_splats(const ray_tree *tree, const surface_sample *samples, int count, orr_jobs *jobs,
                              orr_splats **splats, orr_error *error)
{
    studio scene;
    studio_create(&scene, tree);
    return splat_samples(&scene, samples, count, SH_DEGREE, jobs, splats, error);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: make_orrery CLOUD MESH.glb\n");
        return 2;
    }
    shape_mesh s = {0};
    orr_error error;
    orr_result result = orrery_build(&s, &error);
    if (result == ORR_OK) {
        result = splat_surface(&s, MATERIAL_SUN, SPLATS, make_splats, argv[1], &error);
    }
    if (result == ORR_OK) {
        result = glb_save(&s, argv[2], &error);
    }
    if (result != ORR_OK) {
        fprintf(stderr, "make_orrery: %s\n", error.message);
    }
    shape_destroy(&s);
    return result == ORR_OK ? 0 : 1;
}
