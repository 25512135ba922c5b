// orrery bench physics: what it costs that a cloud follows the cage of a soft body, on the CPU.
#include "samples/orrery/bench/bench.h"

#include "assets/clouds.h"
#include "engine/core/memory.h"
#include "physics/soft/mesh/box_mesh.h"
#include "physics/soft/mesh/embed.h"
#include "render/cpu/splats_cpu.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { MILLION = 1000000, ROUNDS = 5 };

typedef struct follow_case {
    orr_soft_mesh mesh;
    orr_soft_cage cage;
    orr_splats *splats;
    orr_splat_pack *pack;
    int32_t *piece_of;
    orr_affine_piece *pieces;
    orr_arena arena;
    orr_picture picture;
} follow_case;

static double seconds_since(clock_t start)
{
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static void point_at(const void *context, int64_t i, double p[3])
{
    const orr_splat_pack *pack = context;
    for (int k = 0; k < 3; k++) {
        p[k] = (double)pack->geometry[(i / ORR_PACK_BLOCK * ORR_PACK_GEOMETRY + k) * ORR_PACK_BLOCK +
                                      i % ORR_PACK_BLOCK];
    }
}

// Seconds of the stage "project".
static orr_result project(const bench_run *run, orr_jobs *jobs, follow_case *c, bool follows, double *seconds,
                          orr_error *error)
{
    orr_draw_splats layer = {.pack = c->pack, .key = 1, .model = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f}};
    if (follows) {
        layer.deformation = (orr_draw_deformation){c->piece_of, c->pieces, c->mesh.tets};
    }
    const float eye[3] = {0.0f, 0.0f, -3.0f}, target[3] = {0}, up[3] = {0.0f, -1.0f, 0.0f};
    orr_camera camera = orr_camera_look_at(eye, target, up, 0.8f, run->size[0], run->size[1]);
    orr_draw_list list = {.splats = &layer, .splat_count = 1};
    orr_profile profile = {0};
    orr_isa isa;
    ORR_TRY(orr_isa_choose(&isa, error));
    ORR_TRY(orr_camera_resolve(&camera, &list.lens, error));
    orr_arena_reset(&c->arena);
    ORR_TRY(orr_draw_cpu(jobs, isa, &c->arena, &list, NULL, &c->picture, NULL, &profile, error));
    for (int i = 0; i < profile.count; i++) {
        if (strcmp(profile.stages[i].name, "project") == 0) {
            *seconds = 1e-3 * profile.stages[i].milliseconds;
        }
    }
    return ORR_OK;
}

static orr_result measure(const bench_run *run, orr_jobs *jobs, follow_case *c, int64_t count,
                          orr_error *error)
{
    const int side = run->tiny ? 2 : 12, cells[3] = {side, side, side}; // 10,368 tets
    const double size[3] = {2.0, 2.0, 2.0};
    ORR_TRY(orr_soft_box(cells, size, &c->mesh, error));
    c->cage = (orr_soft_cage){
        .vertices = c->mesh.vertices, .vertex = c->mesh.vertex, .tets = c->mesh.tets, .tet = c->mesh.tet};
    c->splats = make_cloud(CLOUD_BALL, count, 3, 1);
    if (!c->splats) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %lld splats", (long long)count);
    }
    const orr_splats_view view = orr_splats_data(c->splats);
    ORR_TRY(orr_splat_pack_create(jobs, &view, NULL, &c->pack, error));
    const int64_t places = c->pack->blocks * ORR_PACK_BLOCK;
    ORR_ALLOC(c->piece_of, places, "a cloud", error);
    ORR_ALLOC(c->pieces, c->mesh.tets, "a cloud", error);
    ORR_ALLOC(c->picture.rgba, 4 * run->size[0] * run->size[1], "a picture", error);
    const orr_soft_points points = {places, point_at, c->pack};
    clock_t start = clock();
    ORR_TRY(orr_soft_embed(&c->cage, &points, jobs, c->piece_of, error));
    const double embed = seconds_since(start);
    double affines = INFINITY, with = INFINITY, without = INFINITY, once;
    for (int i = 0; i < (run->tiny ? 1 : ROUNDS); i++) { // the least of several: other programs only add
        start = clock();
        orr_soft_affines(&c->cage, c->mesh.vertex, 1.0, jobs, c->pieces);
        affines = fmin(affines, seconds_since(start));
        ORR_TRY(project(run, jobs, c, false, &once, error));
        without = fmin(without, once);
        ORR_TRY(project(run, jobs, c, true, &once, error));
        with = fmin(with, once);
    }
    fprintf(run->out,
            "\na cloud of %lld splats that follows %d tets, one thread\n"
            "  bound once %.0f ms; per frame: motion of the tets %.2f ms, projection %.1f ms, where the same "
            "cloud at rest takes %.1f ms\n",
            (long long)count, c->mesh.tets, 1e3 * embed, 1e3 * affines, 1e3 * with, 1e3 * without);
    if (run->json) {
        cJSON *entry = cJSON_AddObjectToObject(run->json, "follow");
        cJSON_AddNumberToObject(entry, "splats", (double)count);
        cJSON_AddNumberToObject(entry, "bind_seconds", embed);
        cJSON_AddNumberToObject(entry, "tets_seconds", affines);
        cJSON_AddNumberToObject(entry, "project_seconds", with);
        cJSON_AddNumberToObject(entry, "project_at_rest_seconds", without);
    }
    return ORR_OK;
}

orr_result bench_follow(const bench_run *run, orr_jobs *jobs, orr_error *error)
{
    follow_case c = {0};
    orr_result result = measure(run, jobs, &c, run->tiny ? 1000 : MILLION, error);
    orr_soft_mesh_destroy(&c.mesh);
    orr_splat_pack_destroy(c.pack);
    orr_splats_destroy(c.splats);
    orr_free(c.piece_of);
    orr_free(c.pieces);
    orr_free(c.picture.rgba);
    orr_arena_destroy(&c.arena);
    return result;
}
