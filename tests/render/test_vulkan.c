// Drawing on Vulkan against the double-precision reference and the CPU, with the validation layer watching,
// and its promises: frames in flight come out in order, nothing is allocated after warm-up, nothing is
// dropped for lack of capacity.
#include "engine/image/image.h"
#include "render/appearance/neural_material.h"
#include "render/splat/splat_cloud.h"
#include "render/vulkan/image.h"
#include "tests/render/scenes/shadow_scene.h"
#include "tests/render/vulkan_rig.h"
#include "tests/splats/splat_views.h"
#include "tests/support/scenes/cut_cloud.h"
#include "tests/support/scenes/small_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static orr_vulkan_draw *draw_make(int frames_in_flight)
{
    orr_vulkan_draw *draw;
    assert_ok(orr_vulkan_draw_create(vk, jobs, frames_in_flight, &draw, &error));
    return draw;
}

static void assert_no_complaint(void)
{
    assert_string_equal(orr_vk_validation_message(vk), "");
    assert_int_equal(orr_vk_validation_count(vk), 0);
}

static void pictures_equal_the_reference(void **state)
{
    (void)state;
    orr_vulkan_draw *draw = draw_make(1);
    for (int v = 0; v < splat_view_count(); v++) {
        splat_view view = splat_view_make(v);
        view_scene scene;
        view_scene_make(&view, jobs, &scene);
        drawn d = drawn_on_vulkan(draw, &scene.list);
        // Vulkan allows exp2 and division some ulp more than the CPU has
        assert_view_drawn(&view, &scene, &d, 90.0, 0.001);
        drawn_free(&d);
        for (int i = 0; i < view.layer_count; i++) {
            orr_vulkan_draw_release(draw, scene.splats[i].key);
        }
        view_scene_free(&scene);
        splat_view_free(&view);
    }
    orr_vulkan_draw_destroy(draw);
    assert_no_complaint();
}

// The bar between machines: 50 dB, and 2/255 at worst.
static void assert_same_picture(const drawn *a, const drawn *b)
{
    double quality = psnr(a->rgba, b->rgba, 4 * a->pixels);
    double worst = largest_difference(a->rgba, b->rgba, 4 * a->pixels);
    print_message("    %.1f dB, worst %.1e\n", quality, worst);
    assert_true(quality >= 50.0);
    assert_true(worst <= 2.0 / 255.0);
}

// a cloud before a camera at (0, 0, -3), and all that has to be freed
typedef struct stage {
    orr_splats *splats;
    orr_splat_pack *pack;
    orr_draw_splats layer;
    orr_draw_list list;
} stage;

static void stage_make(stage *s, orr_splats *splats, int width, int height)
{
    *s = (stage){.splats = splats};
    orr_splats_view data = orr_splats_data(splats);
    assert_ok(orr_splat_pack_create(jobs, &data, NULL, &s->pack, &error));
    s->layer = (orr_draw_splats){.pack = s->pack, .key = 1, .model = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f}};
    const float eye[3] = {0.0f, 0.0f, -3.0f}, target[3] = {0}, up[3] = {0.0f, -1.0f, 0.0f};
    orr_camera camera = orr_camera_look_at(eye, target, up, 0.8f, width, height);
    s->list = (orr_draw_list){.splats = &s->layer, .splat_count = 1};
    assert_ok(orr_camera_resolve(&camera, &s->list.lens, &error));
}

static void stage_free(stage *s)
{
    orr_splat_pack_destroy(s->pack);
    orr_splats_destroy(s->splats);
}

static void check_cloud(const char *path)
{
    orr_splats *splats;
    assert_ok(orr_splats_load(path, &splats, &error));
    stage s;
    stage_make(&s, splats, 256, 144);
    float target[3], eye[3];
    for (int i = 0; i < 3; i++) {
        target[i] = 0.5f * (s.pack->low[i] + s.pack->high[i]);
        eye[i] = target[i] + (float)(2 - i);
    }
    const float up[3] = {0.0f, -1.0f, 0.0f};
    orr_camera camera = orr_camera_look_at(eye, target, up, 0.9f, 256, 144);
    assert_ok(orr_camera_resolve(&camera, &s.list.lens, &error));
    orr_vulkan_draw *draw = draw_make(1);
    drawn gpu = drawn_on_vulkan(draw, &s.list), cpu = drawn_on_cpu(jobs, &s.list);
    double covered = 0.0;
    for (int64_t i = 0; i < cpu.pixels; i++) {
        covered += (double)cpu.rgba[4 * i + 3] / (double)cpu.pixels;
    }
    assert_true(covered > 0.05); // the camera sees it
    assert_same_picture(&gpu, &cpu);
    drawn_free(&gpu);
    drawn_free(&cpu);
    orr_vulkan_draw_destroy(draw);
    stage_free(&s);
    assert_no_complaint();
}

// Every splat in one tile, whose corners stay uncovered and so take all of them: more than the 65535
// iterations after which lavapipe ends a shader's loops.
static void a_tile_takes_a_hundred_thousand_splats(void **state)
{
    (void)state;
    stage s;
    stage_make(&s, make_cloud(CLOUD_BALL, 100000, 0, 9), 16, 16);
    orr_vulkan_draw *draw = draw_make(1);
    drawn gpu = drawn_on_vulkan(draw, &s.list), cpu = drawn_on_cpu(jobs, &s.list);
    assert_true(cpu.rgba[3] < 0.5f && cpu.rgba[4 * (16 * 8 + 8) + 3] > 0.9f);
    assert_same_picture(&gpu, &cpu);
    drawn_free(&gpu);
    drawn_free(&cpu);
    orr_vulkan_draw_destroy(draw);
    stage_free(&s);
    assert_no_complaint();
}

static void large_clouds_match_the_cpu(void **state)
{
    (void)state;
    check_cloud(made_asset("orrery.spz"));
    const char *captured = shared_data("splats/biker.spz");
    if (captured) {
        check_cloud(captured);
    }
}

// More splats in tiles than the first capacity: the frame is drawn again with enough, also while others are
// in flight.
static void a_frame_beyond_the_capacity_is_drawn_again(void **state)
{
    (void)state;
    stage many, few;
    stage_make(&many, make_cloud(CLOUD_HUGE, 4000, 0, 4), 256, 256); // 256 tiles, most splats reach them all
    stage_make(&few, make_cloud(CLOUD_BALL, 500, 1, 6), 200, 120);
    few.layer.key = 2;
    orr_vulkan_draw *draw = draw_make(3);
    drawn pictures[3] = {drawn_make(&many.list), drawn_make(&few.list), drawn_make(&many.list)};
    const orr_draw_list *lists[3] = {&many.list, &few.list, &many.list};
    drawn alone[2] = {drawn_on_cpu(jobs, &many.list), drawn_on_cpu(jobs, &few.list)};
    orr_profile profile;
    size_t warm = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++) {
            assert_ok(orr_vulkan_draw_submit(draw, lists[i], NULL, &error));
        }
        assert_int_equal(orr_vulkan_draw_submit(draw, lists[0], NULL, NULL), ORR_ERROR_CAPACITY);
        for (int i = 0; i < 3; i++) {
            orr_profile_reset(&profile);
            assert_ok(orr_vulkan_draw_finish(draw, &(orr_picture){pictures[i].rgba, pictures[i].depth},
                                             &profile, &error));
            assert_same_picture(&pictures[i], &alone[i % 2]);
        }
        assert_memory_equal(pictures[0].rgba, pictures[2].rgba,
                            (size_t)pictures[0].pixels * 4 * sizeof(float));
        if (round == 0) {
            warm = orr_vulkan_draw_allocations(draw);
        }
    }
    // after warm-up nothing is allocated
    assert_int_equal(orr_vulkan_draw_allocations(draw), warm);
    assert_string_equal(profile.stages[3].name, "bin");
    assert_true(profile.stages[3].items > 1 << 18); // more pairs than the first capacity
    assert_int_equal(orr_vulkan_draw_finish(draw, NULL, NULL, NULL), ORR_ERROR_ARGUMENT);
    for (int i = 0; i < 3; i++) {
        drawn_free(&pictures[i]);
    }
    orr_vulkan_draw_destroy(draw);
    // what such a frame was made from may be released while it waits
    draw = draw_make(1);
    assert_ok(orr_vulkan_draw_submit(draw, &many.list, NULL, &error));
    orr_vulkan_draw_release(draw, many.layer.key);
    drawn late = drawn_make(&many.list);
    assert_ok(orr_vulkan_draw_finish(draw, &(orr_picture){late.rgba, late.depth}, NULL, &error));
    assert_same_picture(&late, &alone[0]);
    drawn_free(&late);
    drawn_free(&alone[0]);
    drawn_free(&alone[1]);
    orr_vulkan_draw_destroy(draw);
    stage_free(&many);
    stage_free(&few);
    assert_no_complaint();
}

static void every_stage_is_timed(void **state)
{
    (void)state;
    stage s;
    stage_make(&s, make_cloud(CLOUD_BALL, 3000, 3, 8), 128, 96);
    orr_vulkan_draw *draw = draw_make(2);
    orr_profile profile;
    orr_profile_reset(&profile);
    assert_ok(orr_vulkan_draw_submit(draw, &s.list, NULL, &error));
    assert_ok(orr_vulkan_draw_finish(draw, NULL, &profile, &error));
    const char *names[] = {"meshes", "project", "sort", "bin", "blend", "read back"};
    const int64_t least[] = {0, 3000, 1000, 1000, 128 * 96, 128 * 96};
    assert_int_equal(profile.count, 6);
    for (int i = 0; i < 6; i++) {
        assert_string_equal(profile.stages[i].name, names[i]);
        assert_true(profile.stages[i].milliseconds >= 0.0 && profile.stages[i].milliseconds < 1e4);
        assert_true(profile.stages[i].items >= least[i]);
    }
    orr_vulkan_draw_destroy(draw);
    stage_free(&s);
    assert_no_complaint();
}

// Reads the image back; the copy is ordered by the queue alone, as for presenting.
static void read_image(const orr_vulkan_image *image, uint8_t *bytes)
{
    orr_vk_buffer host;
    size_t size = (size_t)image->width * (size_t)image->height * 4;
    assert_ok(orr_vk_buffer_create(vk, size, ORR_VK_READBACK, 0, "a test", &host, &error));
    VkCommandPool pool;
    VkCommandBuffer commands;
    assert_ok(orr_vk_commands_create(vk, &pool, &commands, 1, &error));
    assert_ok(orr_vk_commands_begin(commands, &error));
    // to the layout of a copy; the next writer of the image discards its contents
    orr_vk_image_barrier(commands, image->image, VK_IMAGE_ASPECT_COLOR_BIT, image->layout,
                         VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                         VK_ACCESS_2_NONE, VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_READ_BIT);
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {(uint32_t)image->width, (uint32_t)image->height, 1}};
    vkCmdCopyImageToBuffer(commands, image->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, host.buffer, 1,
                           &region);
    orr_vk_barrier(commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    VkSemaphore timeline;
    assert_ok(orr_vk_timeline_create(vk, &timeline, &error));
    assert_ok(orr_vk_submit(vk, commands, timeline, 1, &error));
    assert_ok(orr_vk_timeline_wait(vk, timeline, 1, &error));
    memcpy(bytes, host.mapped, size);
    vkDestroySemaphore(vk->device, timeline, NULL);
    vkDestroyCommandPool(vk->device, pool, NULL);
    orr_vk_buffer_destroy(vk, &host);
}

static void a_frame_may_end_in_an_image(void **state)
{
    (void)state;
    stage s;
    stage_make(&s, make_cloud(CLOUD_BALL, 2000, 1, 12), 100, 70);
    s.list.opaque = true;
    s.list.sky = orr_sky_of_one_colour((float[]){0.0f, 0.0f, 0.5f});
    orr_vulkan_draw *draw = draw_make(2);
    drawn d = drawn_on_vulkan(draw, &s.list);
    uint8_t *bytes = malloc((size_t)d.pixels * 4), *expected = malloc((size_t)d.pixels * 4);
    orr_image_quantise(d.rgba, d.pixels, expected);
    for (int frame = 0; frame < 3; frame++) {
        orr_vulkan_image image;
        assert_ok(orr_vulkan_draw_submit_image(draw, &s.list, &error));
        assert_ok(orr_vulkan_draw_finish_image(draw, &image, NULL, &error));
        assert_int_equal(image.width, 100);
        read_image(&image, bytes);
        for (int64_t i = 0; i < 4 * d.pixels; i++) {
            assert_in_range(bytes[i] - expected[i] + 1, 0, 2); // halves may round up or down
        }
    }
    // frames are finished as they were submitted
    assert_ok(orr_vulkan_draw_submit_image(draw, &s.list, &error));
    orr_error error = {0};
    assert_int_equal(orr_vulkan_draw_finish(draw, NULL, NULL, &error), ORR_ERROR_ARGUMENT);
    free(bytes);
    free(expected);
    drawn_free(&d);
    orr_vulkan_draw_destroy(draw); // with a frame still in flight
    stage_free(&s);
    assert_no_complaint();
}

static void what_was_released_is_uploaded_anew(void **state)
{
    (void)state;
    stage a, b;
    stage_make(&a, make_cloud(CLOUD_BALL, 800, 0, 14), 90, 60);
    stage_make(&b, make_cloud(CLOUD_BALL, 800, 0, 15), 90, 60);
    orr_vulkan_draw *draw = draw_make(2);
    drawn first = drawn_on_vulkan(draw, &a.list);
    drawn same = drawn_on_vulkan(draw, &b.list); // the same key: the same contents by contract
    assert_memory_equal(first.rgba, same.rgba, (size_t)first.pixels * 4 * sizeof(float));
    orr_vulkan_draw_release(draw, 1);
    drawn other = drawn_on_vulkan(draw, &b.list);
    assert_true(psnr(first.rgba, other.rgba, 4 * first.pixels) < 50.0);
    drawn_free(&first);
    drawn_free(&same);
    drawn_free(&other);
    orr_vulkan_draw_destroy(draw);
    stage_free(&a);
    stage_free(&b);
    assert_no_complaint();
}

// The device's limits are lowered in our copy of them, so that a small cloud shows what large ones meet.
static void clouds_larger_than_a_buffer_come_in_pages(void **state)
{
    (void)state;
    stage s;
    stage_make(&s, make_cloud(CLOUD_BALL, 12000, 3, 17), 120, 80);
    orr_vulkan_draw *draw = draw_make(1);
    drawn whole = drawn_on_vulkan(draw, &s.list);
    orr_vulkan_draw_destroy(draw);

    uint32_t limit = vk->properties.limits.maxStorageBufferRange;
    vk->properties.limits.maxStorageBufferRange = 1 << 20; // 5456 splats of degree 3
    draw = draw_make(1);
    drawn paged = drawn_on_vulkan(draw, &s.list);
    assert_memory_equal(whole.rgba, paged.rgba, (size_t)whole.pixels * 4 * sizeof(float));
    assert_memory_equal(whole.depth, paged.depth, (size_t)whole.pixels * sizeof(float));
    drawn_free(&paged);
    orr_vulkan_draw_destroy(draw);

    // too small for the records of 12000 splats: an error that says what would fit, and nothing drawn
    vk->properties.limits.maxStorageBufferRange = 1 << 17;
    draw = draw_make(1);
    orr_error error = {0};
    assert_int_equal(orr_vulkan_draw_submit(draw, &s.list, NULL, &error), ORR_ERROR_CAPACITY);
    assert_non_null(strstr(error.message, "12000 splats"));
    assert_non_null(strstr(error.message, "8192"));
    orr_vulkan_draw_destroy(draw);
    vk->properties.limits.maxStorageBufferRange = limit;
    drawn_free(&whole);
    stage_free(&s);
    assert_no_complaint();
}

// ---- meshes ----

static void a_plane_covers_what_is_behind_it_and_is_covered_by_what_is_before(void **state)
{
    (void)state;
    for (int orthographic = 0; orthographic < 2; orthographic++) {
        cut_cloud c;
        cut_cloud_make(&c, jobs, orthographic);
        orr_vulkan_draw *draw = draw_make(1);
        drawn d = drawn_on_vulkan(draw, &c.list);
        cut_cloud_check(&c, &d);
        drawn_free(&d);
        orr_vulkan_draw_destroy(draw);
        cut_cloud_free(&c);
    }
    assert_no_complaint();
}

enum { RINGS = 12, SECTORS = 24, TEXTURE = 32 };
static const double pi = 3.14159265358979323846;

// Three quarters of a ball, so that its inside is seen too, with smooth normals, a texture with holes, vertex
// colours.
static void textured_ball(small_mesh *m)
{
    orr_mesh_vertex *vertices = malloc((RINGS + 1) * (SECTORS + 1) * sizeof *vertices);
    uint32_t *indices = malloc(RINGS * SECTORS * 6 * sizeof *indices);
    int index = 0;
    for (int i = 0; i <= RINGS; i++) {
        for (int j = 0; j <= SECTORS; j++) {
            double up = pi * i / RINGS, round = 2.0 * pi * j / SECTORS;
            orr_mesh_vertex *v = &vertices[i * (SECTORS + 1) + j];
            *v = (orr_mesh_vertex){
                .normal = {(float)(sin(up) * cos(round)), (float)cos(up), (float)(sin(up) * sin(round))},
                .uv = {(float)j / SECTORS * 3.0f, (float)i / RINGS * 1.6f - 0.3f},
                .colour = {255, (uint8_t)(255 - 8 * i), (uint8_t)(255 - 5 * j), (uint8_t)(255 - 14 * i)}};
            for (int k = 0; k < 3; k++) {
                v->position[k] = 0.8f * v->normal[k];
            }
            if (i < RINGS && j < SECTORS * 3 / 4) {
                uint32_t a = (uint32_t)(i * (SECTORS + 1) + j), b = a + SECTORS + 1;
                const uint32_t quad[6] = {a, a + 1, b, a + 1, b + 1, b};
                memcpy(indices + index, quad, sizeof quad);
                index += 6;
            }
        }
    }
    small_mesh_set(m, vertices, (RINGS + 1) * (SECTORS + 1), indices, index);
    m->texture = (orr_image8){TEXTURE, TEXTURE, orr_alloc(TEXTURE * TEXTURE, 4)};
    for (int i = 0; i < TEXTURE * TEXTURE; i++) {
        int x = i % TEXTURE, y = i / TEXTURE;
        const uint8_t texel[4] = {(uint8_t)(x * 8), (uint8_t)(y * 8), (uint8_t)((x ^ y) * 8),
                                  (uint8_t)(x % 16 < 3 && y % 16 < 6 ? 0 : 255)};
        memcpy(m->texture.rgba + 4 * i, texel, 4);
    }
    m->mesh.texture_count = 1;
    m->material.texture = 0;
    m->material.alpha_cutoff = 0.5f;
    assert_ok(orr_mesh_build_mips(&m->mesh, &error));
}

static void meshes_match_the_cpu(void **state)
{
    (void)state;
    stage s;
    stage_make(&s, make_cloud(CLOUD_BALL, 800, 0, 41), 160, 120);
    small_mesh ball;
    textured_ball(&ball);
    const orr_transform transforms[2] = {
        {.position = {0.3f, 0.1f, 0.0f}, .rotation = {0.9f, 0.3f, 0.2f, 0.1f}},
        {.position = {-0.5f, -0.2f, -0.6f}, .scale = 0.5f}};
    orr_draw_mesh meshes[2];
    for (int i = 0; i < 2; i++) {
        meshes[i] = (orr_draw_mesh){.mesh = &ball.mesh, .key = 2};
        assert_ok(orr_affine_from_transform(&transforms[i], meshes[i].model, &error));
    }
    s.list.meshes = meshes;
    s.list.mesh_count = 2;
    s.list.sun = (orr_draw_sun){
        .direction = {0.0f, -0.6f, -0.8f}, .colour = {0.9f, 0.8f, 0.7f}, .ambient = {0.1f, 0.2f, 0.3f}};
    orr_vulkan_draw *draw = draw_make(2);
    orr_neural_material *networks[2] = {random_network(16, 8, 1), random_network(32, 1, 2)};
    float *second = malloc(2 * sizeof *second * (size_t)ball.mesh.vertex_count);
    for (int64_t i = 0; i < ball.mesh.vertex_count; i++) {
        second[2 * i] = 0.7f - 2.0f * ball.mesh.vertices[i].uv[1];
        second[2 * i + 1] = 1.3f * ball.mesh.vertices[i].uv[0] + 0.1f;
    }
    for (int variant = 0; variant < 9; variant++) { // the last with second coordinates
        const bool two = variant == 8;
        s.list.lens.orthographic = variant % 2;
        s.list.lens.focal[0] = s.list.lens.focal[1] = variant % 2 ? 45.0f : 130.0f;
        s.list.tone = (orr_tone)(variant % 4);
        s.list.exposure = variant > 0 ? 0.7f : 0.0f;
        ball.material.two_sided = variant >= 2;
        ball.material.unlit = variant == 3;
        ball.material.emissive[1] = variant >= 1 ? 0.3f : 0.0f;
        ball.material.alpha_cutoff = variant >= 2 ? 0.5f : 0.0f;
        ball.material.metallic_roughness = variant >= 4;
        ball.material.metallic = 0.7f;
        ball.material.roughness = variant == 4 ? 0.3f : 0.8f;
        ball.material.surface_texture = ball.material.emissive_texture = variant == 5 || two ? 0 : -1;
        ball.material.second_surface_texture = two ? 0 : -1;
        ball.mesh.second_uv = two ? second : NULL;
        ball.material.normal_texture = variant >= 4 ? 0 : -1;
        ball.material.coat_texture = variant == 5 || two ? 0 : -1;
        ball.material.coat_normal_texture = variant == 5 || two ? 0 : -1;
        for (int use = 0; use < ORR_TEXTURE_USES; use++) { // not the same for any two of a variant
            const int number = variant < 2 ? 0 : variant + use;
            ball.material.samplers[use] =
                (orr_texture_sampler){(uint8_t)(number % 3), (uint8_t)(number / 3 % 3), number % 2 != 0,
                                      number / 2 % 2 != 0,   number % 5 == 4 && !two,   two && use % 2 == 0};
            ball.material.second[use] = use > ORR_TEXTURE_SURFACE && use != ORR_TEXTURE_COAT;
        }
        ball.material.neural = variant >= 6 && !two ? networks[variant - 6] : NULL;
        orr_vulkan_draw_release(draw, 2); // its material changed
        drawn gpu = drawn_on_vulkan(draw, &s.list), cpu = drawn_on_cpu(jobs, &s.list);
        double quality = psnr(gpu.rgba, cpu.rgba, 4 * gpu.pixels);
        double odd = differing_share(gpu.rgba, cpu.rgba, 4 * gpu.pixels, 2.0 / 255.0);
        double odd_depth = differing_share(gpu.depth, cpu.depth, gpu.pixels, 1e-3);
        print_message("    %.1f dB, over 2/255: %.3f %%, depth over 1e-3: %.3f %%\n", quality, 100.0 * odd,
                      100.0 * odd_depth);
        // a pixel centre within rounding of a triangle's rim or of a hole's may fall on either side
        assert_true(quality >= 50.0);
        assert_true(odd <= 0.001);
        assert_true(odd_depth <= 0.001);
        drawn_free(&gpu);
        drawn_free(&cpu);
    }
    orr_vulkan_draw_destroy(draw);
    orr_neural_material_destroy(networks[0]);
    orr_neural_material_destroy(networks[1]);
    free(second);
    free(ball.mesh.vertices);
    free(ball.mesh.indices);
    orr_free(ball.texture.rgba);
    stage_free(&s);
    assert_no_complaint();
}

// Those of the sun, of a spot and of a point of light, below one another in the image of the maps.
static void shadows_match_the_cpu(void **state)
{
    (void)state;
    static shadow_scene s;
    shadow_scene_make(&s);
    shadow_scene_add_lamps(&s);
    orr_vulkan_draw *draw = draw_make(1);
    drawn pictures[2];
    for (int shadows = 0; shadows < 2; shadows++) {
        s.list.shadows = shadows;
        drawn d = drawn_on_vulkan(draw, &s.list), cpu = drawn_on_cpu(jobs, &s.list);
        assert_same_picture(&d, &cpu);
        drawn_free(&cpu);
        pictures[shadows] = d;
    }
    assert_true(psnr(pictures[0].rgba, pictures[1].rgba, 4 * pictures[0].pixels) < 30.0);
    drawn_free(&pictures[0]);
    drawn_free(&pictures[1]);
    shadow_scene_soften(&s);
    drawn soft = drawn_on_vulkan(draw, &s.list), soft_cpu = drawn_on_cpu(jobs, &s.list);
    assert_same_picture(&soft, &soft_cpu);
    drawn_free(&soft);
    drawn_free(&soft_cpu);
    // on a floor of splats
    shadow_scene_make_captured(&s, jobs);
    drawn d = drawn_on_vulkan(draw, &s.list), cpu = drawn_on_cpu(jobs, &s.list);
    assert_same_picture(&d, &cpu);
    const float *in_shadow =
        d.rgba + 4 * (SHADOW_SCENE_SIDE / 2 * SHADOW_SCENE_SIDE + SHADOW_SCENE_SIDE / 2 + 32);
    assert_true(in_shadow[0] < 0.8f * in_shadow[-4 * 64]);
    drawn_free(&d);
    drawn_free(&cpu);
    shadow_scene_free(&s);
    // where the floor was captured in the shadow of a wall, with what says so, without it, and with it again
    shadow_scene_make_walled(&s, jobs);
    for (int i = 0; i < 3; i++) {
        s.list.self_shadow = i == 1 ? NULL : s.self;
        d = drawn_on_vulkan(draw, &s.list);
        cpu = drawn_on_cpu(jobs, &s.list);
        assert_same_picture(&d, &cpu);
        const float *captured =
            d.rgba + 4 * ((SHADOW_SCENE_SIDE / 2 - 8) * SHADOW_SCENE_SIDE + 176); // (1.5, .25)
        assert_true(i == 1 ? captured[0] < 0.3f : captured[0] > 0.38f);
        drawn_free(&d);
        drawn_free(&cpu);
    }
    shadow_scene_free(&s);
    orr_vulkan_draw_destroy(draw);
    assert_no_complaint();
}

// A cube over a floor of splats, and over nothing; with smooth edges and hard ones in turn, so that one frame
// follows the other in the same images.
static void edges_match_the_cpu(void **state)
{
    (void)state;
    static shadow_scene s;
    shadow_scene_make_captured(&s, jobs);
    orr_vulkan_draw *draw = draw_make(1);
    for (int i = 0; i < 4; i++) {
        s.list.lens = shadow_scene_turned_lens(SHADOW_SCENE_SIDE, 48.0f);
        s.list.smooth = i % 2 == 0;
        s.list.splat_count = i < 2;
        drawn d = drawn_on_vulkan(draw, &s.list), cpu = drawn_on_cpu(jobs, &s.list);
        assert_same_picture(&d, &cpu);
        assert_true(differing_share(d.depth, cpu.depth, d.pixels, 1e-3) <= 1e-4);
        drawn_free(&d);
        drawn_free(&cpu);
    }
    shadow_scene_free(&s);
    orr_vulkan_draw_destroy(draw);
    assert_no_complaint();
}

int main(void)
{
    if (!vulkan_rig_open()) {
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_equal_the_reference),
        cmocka_unit_test(large_clouds_match_the_cpu),
        cmocka_unit_test(a_tile_takes_a_hundred_thousand_splats),
        cmocka_unit_test(a_frame_beyond_the_capacity_is_drawn_again),
        cmocka_unit_test(every_stage_is_timed),
        cmocka_unit_test(a_frame_may_end_in_an_image),
        cmocka_unit_test(what_was_released_is_uploaded_anew),
        cmocka_unit_test(clouds_larger_than_a_buffer_come_in_pages),
        cmocka_unit_test(a_plane_covers_what_is_behind_it_and_is_covered_by_what_is_before),
        cmocka_unit_test(meshes_match_the_cpu),
        cmocka_unit_test(shadows_match_the_cpu),
        cmocka_unit_test(edges_match_the_cpu),
    };
    return vulkan_rig_close(cmocka_run_group_tests_name("drawing on Vulkan", tests, NULL, NULL));
}
