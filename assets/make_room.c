// Makes the room that ships with the engine: a splat cloud, lit through its window.
//
//     make_room CLOUD
#include "assets/room.h"
#include "assets/splatting.h"
#include "engine/core/memory.h"
#include "render/splat/splat_formula.h"

#include <stdio.h>

enum { SPLATS = 115000, BLOCK = 256 };

typedef struct room_splats {
    const ray_tree *tree;
    const surface_sample *samples;
    int count;
    orr_splats_view out;
} room_splats;

static void write_block(void *context, int block, int worker)
{
    (void)worker;
    const room_splats *work = context;
    for (int i = BLOCK * block; i < BLOCK * (block + 1) && i < work->count; i++) {
        const surface_sample *s = &work->samples[i];
        surface_sample drawn = *s;
        for (int k = 0; k < 2 && room_is_plain(s->material); k++) {
            drawn.size[k] *= 1.4f;
        }
        splat_place(&work->out, i, &drawn, 0.985f);
        real3 colour =
            studio_develop(room_light(work->tree, s->position, s->normal, s->material, (uint32_t)i));
        const float shown[3] = {colour.x, colour.y, colour.z};
        for (int c = 0; c < 3; c++) {
            work->out.colour[3 * i + c] = (shown[c] - 0.5f) / (float)SH_0;
        }
    }
}

static orr_result make_splats(const ray_tree *tree, const surface_sample *samples, int count, orr_jobs *jobs,
                              orr_splats **splats, orr_error *error)
{
    ORR_TRY(orr_splats_create(count, 0, splats, error));
    room_splats work = {tree, samples, count, orr_splats_data(*splats)};
    orr_jobs_for(jobs, orr_blocks(count, BLOCK), write_block, &work);
    return ORR_OK;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_room CLOUD\n");
        return 2;
    }
    shape_mesh s = {0};
    orr_error error;
    orr_result result = room_build(&s, &error);
    if (result == ORR_OK) {
        result = splat_surface(&s, -1, SPLATS, make_splats, argv[1], &error);
    }
    if (result != ORR_OK) {
        fprintf(stderr, "make_room: %s\n", error.message);
    }
    shape_destroy(&s);
    return result == ORR_OK ? 0 : 1;
}
