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

static orr_result make_cloud(const shape_mesh *s, const char *path, orr_error *error)
{
    ray_tree tree = {0};
    surface_sample *samples = NULL;
    orr_jobs *jobs = NULL;
    orr_splats *splats = NULL;
    studio scene;
    int count;
    orr_result result = rays_build(s, MATERIAL_SUN, &tree, error);
    if (result == ORR_OK) {
        result = sample_surface(s, SPLATS, &samples, &count, error);
    }
    if (result == ORR_OK) {
        result = orr_jobs_create(0, NULL, NULL, &jobs, error);
    }
    if (result == ORR_OK) {
        studio_create(&scene, &tree);
        result = splat_samples(&scene, samples, count, SH_DEGREE, jobs, &splats, error);
    }
    if (result == ORR_OK) {
        result = orr_splats_save(splats, path, error);
    }
    orr_splats_destroy(splats);
    orr_jobs_destroy(jobs);
    orr_free(samples);
    rays_destroy(&tree);
    return result;
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
        result = make_cloud(&s, argv[1], &error);
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
