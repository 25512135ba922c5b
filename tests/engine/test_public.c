// Tests of engine/orrery.h as programs see it: the version, numbers that do not change, structs of other
// sizes than the library's, and meshes from memory.
#include "engine/core/file.h"
#include "engine/image/image.h"
#include "engine/scene/scene.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 48, HEIGHT = 32, PIXELS = WIDTH * HEIGHT };

static orr_scene *empty_scene(void)
{
    orr_scene *scene;
    assert_ok(orr_scene_create(engine, &scene, &error));
    return scene;
}

static void the_version_is_the_same_in_library_and_header(void **state)
{
    (void)state;
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", ORR_VERSION_MAJOR, ORR_VERSION_MINOR, ORR_VERSION_PATCH);
    assert_string_equal(orr_version(), expected);
    assert_string_equal(orr_version(), ORR_VERSION);
}

// Programs compare them with numbers that were compiled in long ago.
static void codes_keep_their_numbers_and_results(void **state)
{
    (void)state;
    static const struct {
        orr_code code;
        int number;
        orr_result result;
    } codes[] = {
        {ORR_CODE_NONE, 0, ORR_OK},
        {ORR_CODE_OUT_OF_MEMORY, 1, ORR_ERROR_MEMORY},
        {ORR_CODE_INTERRUPTED, 2, ORR_ERROR_INTERRUPTED},
        {ORR_CODE_ARGUMENT, 3, ORR_ERROR_ARGUMENT},
        {ORR_CODE_STALE_ID, 4, ORR_ERROR_ARGUMENT},
        {ORR_CODE_FEATURE_ABSENT, 5, ORR_ERROR_UNSUPPORTED},
        {ORR_CODE_CAPACITY, 6, ORR_ERROR_CAPACITY},
        {ORR_CODE_FILE_OPEN, 100, ORR_ERROR_FILE},
        {ORR_CODE_FILE_READ, 101, ORR_ERROR_FILE},
        {ORR_CODE_FILE_WRITE, 102, ORR_ERROR_FILE},
        {ORR_CODE_FILE_TYPE, 103, ORR_ERROR_FORMAT},
        {ORR_CODE_FILE_TRUNCATED, 104, ORR_ERROR_FORMAT},
        {ORR_CODE_FILE_HEADER, 105, ORR_ERROR_FORMAT},
        {ORR_CODE_FILE_VALUE, 106, ORR_ERROR_FORMAT},
        {ORR_CODE_FILE_TOO_LARGE, 107, ORR_ERROR_FORMAT},
        {ORR_CODE_FILE_COMPRESSION, 108, ORR_ERROR_FORMAT},
        {ORR_CODE_FILE_VERSION, 109, ORR_ERROR_UNSUPPORTED},
        {ORR_CODE_SCENE_FILE, 200, ORR_ERROR_FORMAT},
        {ORR_CODE_CAMERA_FILE, 201, ORR_ERROR_FORMAT},
        {ORR_CODE_MESH_FILE, 202, ORR_ERROR_FORMAT},
        {ORR_CODE_IMAGE_FILE, 203, ORR_ERROR_FORMAT},
        {ORR_CODE_CAMERA, 204, ORR_ERROR_ARGUMENT},
        {ORR_CODE_CONFIG, 205, ORR_ERROR_FORMAT},
        {ORR_CODE_MODEL_FILE, 206, ORR_ERROR_FORMAT},
        {ORR_CODE_DEVICE_ABSENT, 300, ORR_ERROR_DEVICE},
        {ORR_CODE_DEVICE_CALL, 301, ORR_ERROR_DEVICE},
        {ORR_CODE_DEVICE_LOST, 302, ORR_ERROR_DEVICE},
        {ORR_CODE_DEVICE_MEMORY, 303, ORR_ERROR_MEMORY},
        {ORR_CODE_DEVICE_VALIDATION, 304, ORR_ERROR_DEVICE},
        {ORR_CODE_DEVICE_CHOSEN, 305, ORR_OK},
        {ORR_CODE_DEVICE_SHARING, 306, ORR_ERROR_UNSUPPORTED},
        {ORR_CODE_WINDOW, 310, ORR_ERROR_UNSUPPORTED},
        {ORR_CODE_VIDEO, 320, ORR_ERROR_FILE},
        {ORR_CODE_IGNORED, 400, ORR_OK},
    };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        assert_int_equal(codes[i].code, codes[i].number);
        assert_int_equal(orr_fail(NULL, codes[i].code, "x"), codes[i].result);
    }
}

// ---- structs of other sizes ----

// A unit cube with shared vertices, its triangles counter-clockwise from outside.
static const float cube[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                                 {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
static const uint32_t cube_indices[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                          2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
static const orr_mesh_desc cube_desc = {
    .vertex_count = 8, .index_count = 36, .positions = cube[0], .indices = cube_indices};

static void assert_newer_refused(orr_result result, const orr_error *why, const char *name)
{
    assert_int_equal(result, ORR_ERROR_UNSUPPORTED);
    assert_int_equal(why->code, ORR_CODE_FEATURE_ABSENT);
    assert_memory_equal(why->message, name, strlen(name));
    assert_non_null(strstr(why->message, ORR_VERSION));
}

static void an_older_desc_leaves_later_members_at_their_defaults(void **state)
{
    (void)state;
    orr_engine *other;
    const orr_engine_desc engine_desc = {.threads = 1, .device = (orr_device_kind)77};
    assert_ok(orr_engine_create_sized(&engine_desc, offsetof(orr_engine_desc, parallel_for), &other, &error));
    assert_int_equal(orr_engine_threads(other), 1);
    orr_engine_destroy(other);

    orr_scene *scene = empty_scene();
    orr_mesh_desc mesh = cube_desc;
    mesh.alpha_cutoff = 7.0f; // beyond its range, were it read
    assert_ok(orr_scene_add_mesh_sized(scene, NULL, &mesh, offsetof(orr_mesh_desc, alpha_cutoff), NULL, NULL,
                                       &error));
    orr_world *world;
    orr_frame *frame;
    assert_ok(orr_world_create(scene, 1, &world, &error));
    const orr_frame_desc frame_desc = {.device = ORR_DEVICE_CPU, .frames_in_flight = 99};
    assert_ok(orr_frame_create_sized(engine, &frame_desc, offsetof(orr_frame_desc, frames_in_flight), &frame,
                                     &error));
    static float drawn[2][4 * PIXELS], depth[PIXELS];
    orr_view view = {.camera = orr_scene_default_camera(scene, WIDTH, HEIGHT), .world = 55};
    assert_ok(
        orr_frame_submit_sized(frame, scene, world, &view, offsetof(orr_view, world), &error)); // world 0
    depth[0] = -1.0f;
    const orr_picture picture = {drawn[0], depth};
    assert_ok(orr_frame_finish_sized(frame, &picture, offsetof(orr_picture, depth), &error));
    assert_true(depth[0] == -1.0f); // a plane that the caller's header does not have is not written
    view.world = 0;
    assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
    assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = drawn[1]}, &error));
    assert_memory_equal(drawn[0], drawn[1], sizeof drawn[0]);
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

static void a_newer_desc_is_taken_while_its_later_members_are_zero(void **state)
{
    (void)state;
    struct {
        orr_engine_desc desc;
        int64_t later;
    } engine_desc = {{.threads = 1, .device = ORR_DEVICE_CPU}, 0};
    orr_engine *other;
    orr_error why = {0};
    assert_ok(orr_engine_create_sized(&engine_desc.desc, sizeof engine_desc, &other, &error));
    orr_engine_destroy(other);
    engine_desc.later = 1;
    assert_newer_refused(orr_engine_create_sized(&engine_desc.desc, sizeof engine_desc, &other, &why), &why,
                         "orr_engine_desc");
    assert_null(other);

    struct {
        orr_mesh_desc desc;
        int64_t later;
    } mesh = {cube_desc, 0};
    orr_scene *scene = empty_scene();
    assert_ok(orr_scene_add_mesh_sized(scene, NULL, &mesh.desc, sizeof mesh, NULL, NULL, &error));
    mesh.later = 1;
    assert_newer_refused(orr_scene_add_mesh_sized(scene, NULL, &mesh.desc, sizeof mesh, NULL, NULL, &why),
                         &why, "orr_mesh_desc");
    assert_int_equal(orr_scene_layer_count(scene), 1);

    struct {
        orr_frame_desc desc;
        int64_t later;
    } frame_desc = {{.frames_in_flight = 1}, 1};
    orr_frame *frame;
    assert_newer_refused(orr_frame_create_sized(engine, &frame_desc.desc, sizeof frame_desc, &frame, &why),
                         &why, "orr_frame_desc");
    assert_null(frame);
    frame_desc.later = 0;
    assert_ok(orr_frame_create_sized(engine, &frame_desc.desc, sizeof frame_desc, &frame, &error));

    struct {
        orr_view view;
        int64_t later;
    } view = {{.camera = orr_scene_default_camera(scene, WIDTH, HEIGHT)}, 1};
    orr_world *world;
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_newer_refused(orr_frame_submit_sized(frame, scene, world, &view.view, sizeof view, &why), &why,
                         "orr_view");
    view.later = 0;
    assert_ok(orr_frame_submit_sized(frame, scene, world, &view.view, sizeof view, &error));

    struct {
        orr_picture picture;
        float *later;
    } picture = {{0}, (float *)&view};
    assert_newer_refused(orr_frame_finish_sized(frame, &picture.picture, sizeof picture, &why), &why,
                         "orr_picture");
    picture.later = NULL;
    assert_ok(orr_frame_finish_sized(frame, &picture.picture, sizeof picture, &error));
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

static void what_is_filled_is_filled_up_to_the_callers_size(void **state)
{
    (void)state;
    orr_scene *scene = empty_scene();
    orr_layer layer;
    assert_ok(orr_scene_add_mesh(scene, "cube", &cube_desc, NULL, &layer, &error));
    struct {
        orr_layer_info info;
        int64_t later;
    } info;
    memset(&info, 0x55, sizeof info);
    const size_t older = offsetof(orr_layer_info, low);
    assert_ok(orr_scene_layer_info_sized(scene, layer, &info.info, older, &error));
    assert_int_equal(info.info.count, 12);
    for (size_t i = older; i < sizeof info; i++) {
        assert_int_equal(((unsigned char *)&info)[i], 0x55);
    }
    assert_ok(orr_scene_layer_info_sized(scene, layer, &info.info, sizeof info, &error));
    assert_true(info.info.high[2] == 1.0f);
    assert_int_equal(info.later, 0);

    orr_splats *splats;
    assert_ok(orr_splats_create(3, 1, &splats, &error));
    struct {
        orr_splats_view view;
        int64_t later;
    } data;
    memset(&data, 0x55, sizeof data);
    orr_splats_data_sized(splats, &data.view, sizeof data);
    assert_int_equal(data.later, 0);
    assert_ptr_equal(data.view.harmonics, orr_splats_data(splats).harmonics);
    data.view.position = NULL;
    orr_splats_data_sized(splats, &data.view, offsetof(orr_splats_view, position));
    assert_int_equal(data.view.count, 3);
    assert_null(data.view.position);
    orr_splats_destroy(splats);

    // elements of an array, each as far apart as the caller's
    orr_world *world;
    orr_frame *frame;
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_frame_create(engine, NULL, &frame, &error));
    const orr_view view = {.camera = orr_scene_default_camera(scene, WIDTH, HEIGHT)};
    assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
    assert_ok(orr_frame_finish(frame, NULL, &error));
    enum { MOST = 32 };
    orr_stage_time stages[MOST];
    const char *names[MOST];
    struct {
        orr_stage_time stage;
        int64_t later;
    } newer[MOST];
    memset(newer, 0x55, sizeof newer);
    int count = orr_frame_stages(frame, stages, MOST);
    assert_in_range(count, 2, MOST);
    orr_frame_stages_sized(frame, &newer[0].stage, sizeof newer[0], count - 1);
    orr_frame_stages_sized(frame, (orr_stage_time *)(void *)names, sizeof names[0], count);
    for (int i = 0; i < count; i++) {
        assert_ptr_equal(names[i], stages[i].name);
        if (i < count - 1) {
            assert_ptr_equal(newer[i].stage.name, stages[i].name);
            assert_int_equal(newer[i].stage.items, stages[i].items);
            assert_int_equal(newer[i].later, 0);
        }
    }
    assert_true(newer[count - 1].later != 0); // beyond the capacity
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

// ---- meshes from memory ----

static const orr_mesh *mesh_of(const orr_scene *scene, int index)
{
    return scene->layers[index].mesh;
}

static void edges_sharper_than_60_degrees_stay_edges(void **state)
{
    (void)state;
    orr_scene *scene = empty_scene();
    assert_ok(orr_scene_add_mesh(scene, "cube", &cube_desc, NULL, NULL, &error));
    const orr_mesh *mesh = mesh_of(scene, 0);
    assert_int_equal(mesh->vertex_count, 24); // each of 8 in three faces
    for (int i = 0; i < 36; i++) {
        const orr_mesh_vertex *v = &mesh->vertices[mesh->indices[i]];
        assert_memory_equal(v->position, cube[cube_indices[i]], sizeof v->position);
        int axis = i / 12 == 0 ? 2 : i / 12 == 1 ? 1 : 0; // faces in pairs: z, y, x
        float out = i % 12 < 6 ? -1.0f : 1.0f;
        for (int k = 0; k < 3; k++) {
            assert_true(v->normal[k] == (k == axis ? out : 0.0f));
        }
    }
    orr_scene_destroy(scene);
}

static void what_a_desc_gives_is_copied(void **state)
{
    (void)state;
    float positions[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    float normals[3][3] = {{0, 0, 2}, {0, 3, 4}, {0, 0, 0}},
          texcoords[3][2] = {{0, 0}, {0.25f, 1}, {2, 0.5f}};
    float colours[3][4] = {{1, 0.5f, 0, 1}, {0, 0, 0, 0}, {9, -9, 0.2f, 1}};
    uint32_t indices[3] = {2, 0, 1};
    uint8_t texture[2][4] = {{255, 0, 0, 255}, {0, 255, 0, 128}};
    const orr_mesh_desc desc = {.vertex_count = 3,
                                .index_count = 3,
                                .positions = positions[0],
                                .indices = indices,
                                .normals = normals[0],
                                .texcoords = texcoords[0],
                                .colours = colours[0],
                                .base_colour = {0.5f, 0.25f, 1, 1},
                                .texture = texture[0],
                                .texture_width = 2,
                                .texture_height = 1,
                                .two_sided = true,
                                .blended = true,
                                .alpha_cutoff = 0.125f};
    orr_scene *scene = empty_scene();
    orr_layer layer;
    assert_ok(orr_scene_add_mesh(scene, NULL, &desc, &(orr_transform){.scale = 2.0f}, &layer, &error));
    memset(positions, 0, sizeof positions);
    memset(indices, 0, sizeof indices);
    memset(texture, 0, sizeof texture);
    orr_layer_info info;
    assert_ok(orr_scene_layer_info(scene, layer, &info, &error));
    assert_string_equal(info.name, "mesh");
    assert_int_equal(info.kind, ORR_LAYER_MESH);
    assert_int_equal(info.count, 1);
    assert_true(info.transform.scale == 2.0f && info.high[1] == 1.0f);
    const orr_mesh *mesh = mesh_of(scene, 0);
    const uint32_t order[3] = {2, 0, 1};
    assert_memory_equal(mesh->indices, order, sizeof order);
    const orr_mesh_vertex *v = mesh->vertices;
    assert_true(v[1].position[0] == 1.0f && v[0].normal[2] == 1.0f && v[1].normal[2] == 0.8f);
    assert_true(v[2].normal[2] == 1.0f); // without a direction: z
    assert_true(v[1].uv[0] == 0.25f && v[1].uv[1] == 1.0f && v[2].uv[0] == 2.0f && v[0].uv[1] == 0.0f);
    const uint8_t bytes[3][4] = {{255, 128, 0, 255}, {0, 0, 0, 0}, {255, 0, 51, 255}};
    for (int i = 0; i < 3; i++) {
        assert_memory_equal(v[i].colour, bytes[i], 4);
    }
    const orr_mesh_material *m = &mesh->materials[0];
    assert_true(m->base_colour[1] == 0.25f && m->two_sided && m->blended && m->alpha_cutoff == 0.125f);
    assert_int_equal(m->texture, 0);
    assert_int_equal(mesh->textures[0].rgba[0], 255);
    assert_int_equal(mesh->textures[0].rgba[7], 128);
    assert_true(mesh->has_mips);
    orr_scene_destroy(scene);
}

static void a_mesh_that_is_none_is_refused(void **state)
{
    (void)state;
    static const float not_finite[24] = {[23] = INFINITY};
    static const uint32_t beyond[36] = {[35] = 8};
    static const uint8_t texel[4];
    orr_mesh_desc bad[13];
    for (int i = 0; i < 13; i++) {
        bad[i] = cube_desc;
    }
    bad[0].vertex_count = 0;
    bad[1].vertex_count = INT64_C(1) << 40;
    bad[2].index_count = 35;
    bad[3].index_count = 0;
    bad[4].positions = NULL;
    bad[5].indices = NULL;
    bad[6].positions = not_finite;
    bad[7].texcoords = not_finite; // 16 of them are read
    bad[7].vertex_count = 12;
    bad[7].positions = (const float[36]){0};
    bad[8].indices = beyond;
    bad[9].texture = texel;
    bad[10].base_colour[1] = NAN;
    bad[11].alpha_cutoff = 1.5f;
    bad[12] = (orr_mesh_desc){0};
    orr_scene *scene = empty_scene();
    for (int i = 0; i < 13; i++) {
        orr_error why = {0};
        if (orr_scene_add_mesh(scene, "bad", &bad[i], NULL, NULL, &why) != ORR_ERROR_ARGUMENT) {
            fail_msg("desc %d is accepted", i);
        }
        assert_memory_equal(why.message, "mesh bad: expected ", 19);
    }
    assert_int_equal(orr_scene_add_mesh(scene, "bad", NULL, NULL, NULL, NULL), ORR_ERROR_ARGUMENT);
    assert_int_equal(
        orr_scene_add_mesh(scene, "bad", &cube_desc, &(orr_transform){.scale = -1.0f}, NULL, NULL),
        ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_scene_layer_count(scene), 0);
    orr_scene_destroy(scene);
}

enum { SIDE = 5, CORNERS = 6 * (SIDE - 1) * (SIDE - 1) };

// A sheet that is bent, smoothly at first and then by 90 degrees.
static void make_sheet(float positions[SIDE * SIDE][3], float texcoords[SIDE * SIDE][2], uint32_t *indices)
{
    static const float profile[SIDE][2] = {{-1, 0}, {-0.5f, 0.125f}, {0, 0.125f}, {0.5f, 0}, {0.5f, -0.75f}};
    for (int i = 0; i < SIDE * SIDE; i++) {
        int across = i % SIDE, along = i / SIDE;
        positions[i][0] = profile[across][0];
        positions[i][1] = 0.25f * (float)along - 0.5f;
        positions[i][2] = profile[across][1];
        texcoords[i][0] = (float)across / (SIDE - 1);
        texcoords[i][1] = (float)along / (SIDE - 1);
        if (across < SIDE - 1 && along < SIDE - 1) {
            uint32_t a = (uint32_t)i, quad[6] = {a, a + 1, a + SIDE, a + 1, a + SIDE + 1, a + SIDE};
            memcpy(indices, quad, sizeof quad);
            indices += 6;
        }
    }
}

static void write_sheet(const char *path, float positions[][3], float texcoords[][2], const uint32_t *indices)
{
    static char text[8192];
    size_t at = (size_t)snprintf(text, sizeof text, "mtllib sheet.mtl\nusemtl sheet\n");
    for (int i = 0; i < SIDE * SIDE; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "v %.9g %.9g %.9g\nvt %.9g %.9g\n",
                               (double)positions[i][0], (double)positions[i][1], (double)positions[i][2],
                               (double)texcoords[i][0], 1.0 - (double)texcoords[i][1]);
    }
    for (int i = 0; i < CORNERS; i += 3) {
        const uint32_t *c = indices + i;
        at += (size_t)snprintf(text + at, sizeof text - at, "f %u/%u %u/%u %u/%u\n", c[0] + 1, c[0] + 1,
                               c[1] + 1, c[1] + 1, c[2] + 1, c[2] + 1);
    }
    assert_ok(orr_file_write(path, text, at, &error));
}

static void draw(const orr_scene *scene, const orr_view *view, float rgba[4 * PIXELS])
{
    orr_world *world;
    orr_frame *frame;
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_frame_create(engine, NULL, &frame, &error));
    assert_ok(orr_frame_submit(frame, scene, world, view, &error));
    assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
    orr_frame_destroy(frame);
    orr_world_destroy(world);
}

static void a_mesh_in_memory_is_drawn_as_the_same_file(void **state)
{
    (void)state;
    float positions[SIDE * SIDE][3], texcoords[SIDE * SIDE][2];
    uint32_t indices[CORNERS];
    uint8_t texture[4 * 4 * 4];
    for (int i = 0; i < 64; i++) {
        texture[i] = i % 4 == 3 ? 255 : (uint8_t)(37 * i);
    }
    make_sheet(positions, texcoords, indices);
    const char material[] = "newmtl sheet\nKd 0.75 0.5 1\nmap_Kd sheet.png\n";
    char path[4096];
    snprintf(path, sizeof path, "%s", scratch_path("sheet.obj"));
    write_sheet(path, positions, texcoords, indices);
    assert_ok(orr_file_write(scratch_path("sheet.mtl"), material, sizeof material - 1, &error));
    assert_ok(orr_png_save(scratch_path("sheet.png"), texture, 4, 4, &error));
    const orr_mesh_desc desc = {.vertex_count = SIDE * SIDE,
                                .index_count = CORNERS,
                                .positions = positions[0],
                                .indices = indices,
                                .texcoords = texcoords[0],
                                .base_colour = {0.75f, 0.5f, 1, 1},
                                .texture = texture,
                                .texture_width = 4,
                                .texture_height = 4,
                                .two_sided = true};
    orr_scene *from_memory = empty_scene(), *from_file;
    assert_ok(orr_scene_add_mesh(from_memory, "sheet.obj", &desc, NULL, NULL, &error));
    assert_ok(orr_scene_load(engine, path, &from_file, &error));
    // the bend of 90 degrees is split, and nothing else
    const orr_mesh *a = mesh_of(from_memory, 0), *b = mesh_of(from_file, 0);
    assert_int_equal(a->vertex_count, SIDE * SIDE + SIDE);
    assert_int_equal(b->vertex_count, a->vertex_count);
    for (int i = 0; i < CORNERS; i++) {
        const orr_mesh_vertex *p = &a->vertices[a->indices[i]], *q = &b->vertices[b->indices[i]];
        assert_memory_equal(p->position, q->position, sizeof p->position);
        for (int k = 0; k < 3; k++) { // both sum unit normals in float, in other orders
            assert_true(fabsf(p->normal[k] - q->normal[k]) < 1e-6f);
        }
    }
    static float rgba[2][4 * PIXELS];
    const orr_view view = {.camera = orr_scene_default_camera(from_file, WIDTH, HEIGHT)};
    draw(from_memory, &view, rgba[0]);
    draw(from_file, &view, rgba[1]);
    float most = 0.0f;
    for (int i = 0; i < 4 * PIXELS; i++) {
        most = fmaxf(most, rgba[1][i]);
    }
    assert_true(most > 0.5f);                                             // there is something to be seen
    assert_true(largest_difference(rgba[0], rgba[1], 4 * PIXELS) < 1e-5); // of the normals' roundings
    orr_scene_destroy(from_memory);
    orr_scene_destroy(from_file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_is_the_same_in_library_and_header),
        cmocka_unit_test(codes_keep_their_numbers_and_results),
        cmocka_unit_test(an_older_desc_leaves_later_members_at_their_defaults),
        cmocka_unit_test(a_newer_desc_is_taken_while_its_later_members_are_zero),
        cmocka_unit_test(what_is_filled_is_filled_up_to_the_callers_size),
        cmocka_unit_test(edges_sharper_than_60_degrees_stay_edges),
        cmocka_unit_test(what_a_desc_gives_is_copied),
        cmocka_unit_test(a_mesh_that_is_none_is_refused),
        cmocka_unit_test(a_mesh_in_memory_is_drawn_as_the_same_file),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
