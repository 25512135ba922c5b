#include "engine/loop/eyes/detail.h"

#include "engine/core/memory.h"
#include "engine/scene/scene.h"
#include "render/splat_detail/splat_detail.h"

#include <math.h>

// What merges the splats of one layer.
typedef struct cloud {
    uint64_t key;             // of the layer's cloud when it was made
    orr_splat_detail *detail; // NULL: not made yet
} cloud;

struct orr_eyes_detail {
    float detail, cloud_detail; // [px]
    cloud *clouds;              // capacity: of the scene's layers
    int capacity;
};

orr_result orr_eyes_detail_create(const orr_eyes_desc *desc, orr_eyes_detail **out, orr_error *error)
{
    const float of_clouds = desc->cloud_detail == 0.0f ? desc->detail : fmaxf(desc->cloud_detail, 0.0f);
    *out = NULL;
    if (!(desc->detail > 0.0f) && !(of_clouds > 0.0f)) {
        return ORR_OK;
    }
    *out = orr_alloc_zero(1, sizeof **out);
    if (!*out) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: level of detail");
    }
    (*out)->detail = desc->detail;
    (*out)->cloud_detail = of_clouds;
    return ORR_OK;
}

void orr_eyes_detail_destroy(orr_eyes_detail *d)
{
    for (int i = 0; d && i < d->capacity; i++) {
        orr_splat_detail_destroy(d->clouds[i].detail);
    }
    if (d) {
        orr_free(d->clouds);
    }
    orr_free(d);
}

// Rays are cast at a round geom, or its coarsest mesh is taken whose outline is within `detail` pixels.
static void coarsen(float detail, const orr_lens *lens, const orr_robot_geom *geom, orr_draw_mesh *item)
{
    const float *m = item->model, *view = lens->view + 8, focal = fmaxf(lens->focal[0], lens->focal[1]);
    const float scale = sqrtf(m[0] * m[0] + m[4] * m[4] + m[8] * m[8]);
    float reach = 0.0f;
    for (int k = 0; k < 3; k++) {
        reach += item->mesh->high[k] * item->mesh->high[k];
    }
    const float depth = view[0] * m[3] + view[1] * m[7] + view[2] * m[11] + view[3] - scale * sqrtf(reach);
    const float nearest = lens->orthographic ? 1.0f : fmaxf(depth, lens->near_plane);
    const float pixels = scale * focal / nearest; // of a metre
    item->round = &geom->round;
    for (int i = 0; i < ORR_ROBOT_COARSE; i++) {
        if (geom->coarse_error[i] * pixels <= detail) {
            item->mesh = geom->coarse[i];
            item->variant = i + 1;
        }
    }
}

static orr_result merge(orr_eyes_detail *d, int layer, orr_jobs *jobs, orr_draw_splats *cloud_drawn,
                        orr_error *error)
{
    cloud *c = &d->clouds[layer];
    const float size = orr_splat_merged_size(d->cloud_detail, cloud_drawn->antialias);
    if (c->detail && c->key != cloud_drawn->key) {
        orr_splat_detail_destroy(c->detail);
        c->detail = NULL;
    }
    if (!c->detail) {
        const orr_splat_detail_desc desc = {cloud_drawn->antialias, size};
        ORR_TRY(orr_splat_detail_create(jobs, cloud_drawn->pack, &desc, &c->detail, error));
        c->key = cloud_drawn->key;
    }
    cloud_drawn->detail = c->detail;
    cloud_drawn->merged_size = size;
    return ORR_OK;
}

orr_result orr_eyes_detail_apply(orr_eyes_detail *d, orr_jobs *jobs, const orr_scene *scene,
                                 orr_frame_slot *slot, orr_error *error)
{
    for (int i = 0; i < slot->list.mesh_count; i++) {
        const orr_layer_data *layer = &scene->layers[slot->mesh_layers[i]];
        const orr_robot_geom *geom = orr_layer_geom(layer, slot->meshes[i].key);
        // the host does not know where bodies are that only the device has
        if (geom && geom->round_radius > 0.0f && !slot->meshes[i].bodies) {
            coarsen(d->detail, &slot->list.lens, geom, &slot->meshes[i]);
        }
    }
    ORR_GROW(d->clouds, d->capacity, scene->layer_count, "level of detail", error);
    for (int i = 0; i < slot->list.splat_count && d->cloud_detail > 0.0f; i++) {
        const int layer = slot->splat_layers[i];
        if (!slot->splats[i].deformation.piece_of && !scene->layers[layer].trainer) {
            ORR_TRY(merge(d, layer, jobs, &slot->splats[i], error));
        }
    }
    return ORR_OK;
}
