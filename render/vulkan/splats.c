#include "render/vulkan/splats.h"

#include <string.h>

enum { GROUP = 256, SORT_BLOCK = 2048, DIGITS = 256 }; // as in shaders/control.glsl

// bindings and push constants of each pipeline
static const struct {
    const char *types;
    uint32_t push_size;
} signatures[ORR_SHADER_COMPUTE_COUNT] = {
    [ORR_SHADER_CLOUD_MAP] = {"bbbbbb", 8},
    [ORR_SHADER_SPLAT_BLEND_CLOUDED] = {"bbbbbtbbbbbbtbtb", 84},
    [ORR_SHADER_SPLAT_BLEND_CLOUDED_OCCLUDED] = {"bbbbbtbbbbbbtbtbb", 84},
    [ORR_SHADER_SPLAT_BLEND_OCCLUDED] = {"bbbbbtbbbbbbtbtbb", 84},
    [ORR_SHADER_FRAGMENT_SORT] = {"bb", 8},
    [ORR_SHADER_PRESENT] = {"bw", 8},
    [ORR_SHADER_RADIX_COUNT] = {"bbb", 8},
    [ORR_SHADER_RADIX_SCAN] = {"bbb", 4},
    [ORR_SHADER_RADIX_SCATTER] = {"bbbbbbb", 12},
    [ORR_SHADER_SPLAT_BLEND] = {"bbbbbtbbbbbbtbt", 84},
    [ORR_SHADER_SPLAT_PLAN] = {"b", 0},
    [ORR_SHADER_SPLAT_PROJECT] = {"bbbbbbbbb", 128},
    [ORR_SHADER_TILE_COUNT] = {"bbbbbb", 8},
    [ORR_SHADER_TILE_EMIT] = {"bbbbbbbb", 8},
    [ORR_SHADER_TILE_RANGES] = {"bbb", 0},
    [ORR_SHADER_TILE_SCAN] = {"bb", 4},
};

// indices into control.counts
enum { COUNT_SPLATS, COUNT_VISIBLE, COUNT_PAIRS };

// The shader that blends such a frame.
static orr_vulkan_shader blend_shader(bool clouded, bool occluded)
{
    return clouded ? (occluded ? ORR_SHADER_SPLAT_BLEND_CLOUDED_OCCLUDED : ORR_SHADER_SPLAT_BLEND_CLOUDED)
                   : (occluded ? ORR_SHADER_SPLAT_BLEND_OCCLUDED : ORR_SHADER_SPLAT_BLEND);
}

// Is the shader made only when a frame needs it?
static bool is_rare(orr_vulkan_shader shader)
{
    return shader == ORR_SHADER_CLOUD_MAP || shader == blend_shader(true, false) ||
           shader == blend_shader(false, true) || shader == blend_shader(true, true);
}

static orr_result create_stage(orr_vulkan_splats *s, orr_vulkan_shader shader, orr_error *error)
{
    return orr_vk_compute_create(s->vk, orr_vulkan_shader_code(shader), signatures[shader].types,
                                 signatures[shader].push_size, &s->stages[shader], error);
}

static orr_result prepare_stage(orr_vulkan_splats *s, orr_vulkan_shader shader, orr_error *error)
{
    return s->stages[shader].pipeline ? ORR_OK : create_stage(s, shader, error);
}

orr_result orr_vulkan_splats_prepare(orr_vulkan_splats *s, bool maps, bool clouded, bool occluded,
                                     orr_error *error)
{
    if (maps) {
        ORR_TRY(prepare_stage(s, ORR_SHADER_CLOUD_MAP, error));
    }
    return prepare_stage(s, blend_shader(clouded, occluded), error);
}

orr_result orr_vulkan_splats_create(orr_vk *vk, orr_vulkan_splats *splats, orr_error *error)
{
    *splats = (orr_vulkan_splats){.vk = vk};
    for (int i = 0; i < ORR_SHADER_COMPUTE_COUNT; i++) {
        if (!is_rare((orr_vulkan_shader)i)) {
            ORR_TRY(create_stage(splats, (orr_vulkan_shader)i, error));
        }
    }
    const VkSamplerCreateInfo sampler = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
    ORR_VK_TRY(vkCreateSampler(vk->device, &sampler, NULL, &splats->sampler), error);
    ORR_TRY(orr_vk_buffer_create(vk, sizeof(orr_vulkan_control), ORR_VK_ON_DEVICE,
                                 VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT, "counters", &splats->control, error));
    return orr_vk_buffer_create(vk, DIGITS * sizeof(uint32_t), ORR_VK_ON_DEVICE, 0, "digits",
                                &splats->digit_totals, error);
}

void orr_vulkan_splats_destroy(orr_vulkan_splats *splats)
{
    orr_vk *vk = splats->vk;
    if (!vk) {
        return;
    }
    for (int i = 0; i < ORR_SHADER_COMPUTE_COUNT; i++) {
        orr_vk_compute_destroy(vk, &splats->stages[i]);
    }
    vkDestroySampler(vk->device, splats->sampler, NULL);
    orr_vk_buffer *buffers[] = {
        &splats->control,       &splats->centres,       &splats->shapes,         &splats->colours,
        &splats->keys[0],       &splats->keys[1],       &splats->order[0],       &splats->order[1],
        &splats->tile_counts,   &splats->sums,          &splats->digits,         &splats->digit_totals,
        &splats->pair_tiles[0], &splats->pair_tiles[1], &splats->pair_splats[0], &splats->pair_splats[1],
        &splats->ranges,        &splats->picture,       &splats->depth,          &splats->clouds,
    };
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        orr_vk_buffer_destroy(vk, buffers[i]);
    }
}

bool orr_vulkan_splats_fit(const orr_vulkan_splats *splats, orr_vulkan_capacity capacity)
{
    const orr_vulkan_capacity *have = &splats->capacity;
    return capacity.splats <= have->splats && capacity.pairs <= have->pairs &&
           capacity.tiles <= have->tiles && capacity.pixels <= have->pixels &&
           capacity.cloud_texels <= have->cloud_texels;
}

typedef struct growth {
    orr_vk_buffer *buffer;
    int64_t count, size; // elements, bytes of one
    const char *what;
} growth;

static orr_result grow_all(orr_vulkan_splats *splats, const growth *growths, int count, orr_error *error)
{
    int64_t limit = (int64_t)splats->vk->properties.limits.maxStorageBufferRange;
    for (int i = 0; i < count; i++) {
        const growth *g = &growths[i];
        if (g->count * g->size <= (int64_t)g->buffer->size) {
            continue;
        }
        if (g->count * g->size > limit) {
            return orr_fail(error, ORR_CODE_CAPACITY,
                            "Vulkan: %lld %s in one frame: this device's buffers take %lld",
                            (long long)g->count, g->what, (long long)(limit / g->size));
        }
        orr_vk_buffer_destroy(splats->vk, g->buffer);
        ORR_TRY(orr_vk_buffer_create(splats->vk, (VkDeviceSize)(g->count * g->size), ORR_VK_ON_DEVICE, 0,
                                     g->what, g->buffer, error));
    }
    return ORR_OK;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

orr_result orr_vulkan_splats_grow(orr_vulkan_splats *s, orr_vulkan_capacity least, orr_error *error)
{
    orr_vulkan_capacity capacity = {
        larger(least.splats, s->capacity.splats), larger(least.pairs, s->capacity.pairs),
        larger(least.tiles, s->capacity.tiles), larger(least.pixels, s->capacity.pixels),
        larger(least.cloud_texels, s->capacity.cloud_texels)};
    // the table is before the texels
    const int64_t texel = ORR_CLOUD_TEXEL * (int64_t)sizeof(float);
    const int64_t table = capacity.cloud_texels > 0 ? (int64_t)sizeof(orr_cloud_table) / texel + 1 : 0;
    // the sorts' and the bins' dispatches are one-dimensional
    int64_t groups = (int64_t)s->vk->properties.limits.maxComputeWorkGroupCount[0];
    if (capacity.splats > groups * GROUP || capacity.pairs > groups * SORT_BLOCK) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "Vulkan: %lld splats, %lld in tiles: this device takes %lld, %lld",
                        (long long)capacity.splats, (long long)capacity.pairs, (long long)groups * GROUP,
                        (long long)groups * SORT_BLOCK);
    }
    int64_t blocks = orr_blocks(larger(capacity.splats, capacity.pairs), SORT_BLOCK);
    const growth growths[] = {
        {&s->centres, capacity.splats, 16, "splats"},
        {&s->shapes, capacity.splats, 16, "splats"},
        {&s->colours, capacity.splats, 16, "splats"},
        {&s->keys[0], capacity.splats, 4, "splats"},
        {&s->keys[1], capacity.splats, 4, "splats"},
        {&s->order[0], capacity.splats, 4, "splats"},
        {&s->order[1], capacity.splats, 4, "splats"},
        {&s->tile_counts, capacity.splats, 4, "splats"},
        {&s->sums, orr_blocks(capacity.splats, GROUP), 4, "sums"},
        {&s->digits, blocks * DIGITS, 4, "digits"},
        {&s->pair_tiles[0], capacity.pairs, 4, "splats in tiles"},
        {&s->pair_tiles[1], capacity.pairs, 4, "splats in tiles"},
        {&s->pair_splats[0], capacity.pairs, 4, "splats in tiles"},
        {&s->pair_splats[1], capacity.pairs, 4, "splats in tiles"},
        {&s->ranges, capacity.tiles, 8, "tiles"},
        {&s->picture, capacity.pixels, 16, "pixels"},
        {&s->depth, capacity.pixels, 4, "pixels"},
        {&s->clouds, table + capacity.cloud_texels, texel, "texels of opacity maps"},
    };
    orr_result result = grow_all(s, growths, sizeof growths / sizeof growths[0], error);
    // after a failure some buffers are destroyed: the next frame creates them again
    s->capacity = result == ORR_OK ? capacity : (orr_vulkan_capacity){0};
    return result;
}

// the writes of a compute stage become visible to the next, also as the size of its dispatch
static void next_stage(VkCommandBuffer commands)
{
    orr_vk_barrier(commands, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT,
                   VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT |
                       VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT);
}

static void bind(const orr_vulkan_splats *s, VkCommandBuffer commands, orr_vulkan_shader shader,
                 const orr_vk_binding *bindings, const void *push)
{
    orr_vk_compute_bind(commands, &s->stages[shader], bindings, push, signatures[shader].push_size);
}

#define BUFFER(member)                                                                                       \
    {                                                                                                        \
        .buffer = s->member.buffer                                                                           \
    }

// uncoloured: only shapes are needed, and harmonics are read to degree 0 alone.
static void project(const orr_vulkan_splats *s, VkCommandBuffer commands, const orr_vulkan_layer *layers,
                    int layer_count, VkBuffer pieces, bool uncoloured)
{
    uint32_t first = 0;
    for (int i = 0; i < layer_count; i++) {
        const orr_vulkan_cloud *cloud = layers[i].cloud;
        for (int p = 0; p < cloud->page_count; p++) {
            const orr_vulkan_page *page = &cloud->pages[p];
            struct {
                splat_lens_values lens;
                uint32_t first, count, degree_and_piece;
            } push = {layers[i].lens, first, page->count, uncoloured ? 0 : (uint32_t)cloud->sh_degree};
            VkBuffer piece_of = page->piece_of.buffer;
            push.degree_and_piece += piece_of ? 4 * (1 + layers[i].first_piece) : 0;
            _Static_assert(sizeof push == 128, "push constants as in splat_project.comp");
            const orr_vk_binding bindings[] = {BUFFER(control),
                                               {.buffer = page->geometry.buffer},
                                               {.buffer = page->harmonics.buffer},
                                               BUFFER(keys[0]),
                                               BUFFER(centres),
                                               BUFFER(shapes),
                                               BUFFER(colours),
                                               {.buffer = piece_of ? piece_of : s->control.buffer},
                                               {.buffer = piece_of ? pieces : s->control.buffer}};
            bind(s, commands, ORR_SHADER_SPLAT_PROJECT, bindings, &push);
            vkCmdDispatch(commands, (page->count + GROUP - 1) / GROUP, 1, 1);
            first += page->count;
        }
    }
    next_stage(commands);
    bind(s, commands, ORR_SHADER_SPLAT_PLAN, &(orr_vk_binding)BUFFER(control), NULL);
    vkCmdDispatch(commands, 1, 1, 1);
    next_stage(commands);
}

// One pass over one digit, from buffers `from` to the others. `blocks`: offset in the control buffer of the
// dispatch's size, or 0: `block_count` workgroups.
typedef struct sort_pass {
    const orr_vk_buffer *keys, *values; // two each
    int from;
    uint32_t counter, shift, identity;
    VkDeviceSize blocks;
    uint32_t block_count;
} sort_pass;

static void dispatch_blocks(const orr_vulkan_splats *s, VkCommandBuffer commands, const sort_pass *pass)
{
    if (pass->blocks) {
        vkCmdDispatchIndirect(commands, s->control.buffer, pass->blocks);
    } else {
        vkCmdDispatch(commands, pass->block_count, 1, 1);
    }
}

static void record_pass(const orr_vulkan_splats *s, VkCommandBuffer commands, const sort_pass *pass)
{
    const uint32_t push[] = {pass->counter, pass->shift, pass->identity};
    const orr_vk_binding keys = {.buffer = pass->keys[pass->from].buffer};
    const orr_vk_binding values = {.buffer = pass->values[pass->from].buffer};
    const orr_vk_binding count[] = {BUFFER(control), keys, BUFFER(digits)};
    bind(s, commands, ORR_SHADER_RADIX_COUNT, count, push);
    dispatch_blocks(s, commands, pass);
    next_stage(commands);
    const orr_vk_binding scan[] = {BUFFER(control), BUFFER(digits), BUFFER(digit_totals)};
    bind(s, commands, ORR_SHADER_RADIX_SCAN, scan, push);
    vkCmdDispatch(commands, DIGITS, 1, 1);
    next_stage(commands);
    const orr_vk_binding scatter[] = {BUFFER(control),
                                      keys,
                                      values,
                                      {.buffer = pass->keys[!pass->from].buffer},
                                      {.buffer = pass->values[!pass->from].buffer},
                                      BUFFER(digits),
                                      BUFFER(digit_totals)};
    bind(s, commands, ORR_SHADER_RADIX_SCATTER, scatter, push);
    dispatch_blocks(s, commands, pass);
    next_stage(commands);
}

// Visible splats by depth; their order ends in order[0].
static void sort_by_depth(const orr_vulkan_splats *s, VkCommandBuffer commands, uint32_t splats)
{
    for (int digit = 0; digit < 4; digit++) {
        // the first pass also drops the splats that are not visible
        const sort_pass pass = {
            .keys = s->keys,
            .values = s->order,
            .from = digit % 2,
            .counter = digit == 0 ? COUNT_SPLATS : COUNT_VISIBLE,
            .shift = (uint32_t)(8 * digit),
            .identity = digit == 0,
            .blocks = digit == 0 ? 0 : offsetof(orr_vulkan_control, visible_blocks),
            .block_count = (splats + SORT_BLOCK - 1) / SORT_BLOCK,
        };
        record_pass(s, commands, &pass);
    }
}

// Drops the splats that are not visible; the order of the others, by no more than a byte of their depths,
// ends in order[1].
static void drop_invisible(const orr_vulkan_splats *s, VkCommandBuffer commands, uint32_t splats)
{
    const sort_pass pass = {.keys = s->keys,
                            .values = s->order,
                            .counter = COUNT_SPLATS,
                            .identity = 1,
                            .block_count = (splats + SORT_BLOCK - 1) / SORT_BLOCK};
    record_pass(s, commands, &pass);
}

// Every tile's splats, in their order. Returns which of the two pair buffers has the result.
static int bin(const orr_vulkan_splats *s, VkCommandBuffer commands, const orr_vk_buffer *order,
               const int tiles[2])
{
    const orr_vk_binding count[] = {BUFFER(control), {.buffer = order->buffer}, BUFFER(centres),
                                    BUFFER(shapes),  BUFFER(tile_counts),       BUFFER(sums)};
    bind(s, commands, ORR_SHADER_TILE_COUNT, count, tiles);
    vkCmdDispatchIndirect(commands, s->control.buffer, offsetof(orr_vulkan_control, visible_groups));
    next_stage(commands);
    const uint32_t capacity = (uint32_t)s->capacity.pairs;
    const orr_vk_binding scan[] = {BUFFER(control), BUFFER(sums)};
    bind(s, commands, ORR_SHADER_TILE_SCAN, scan, &capacity);
    vkCmdDispatch(commands, 1, 1, 1);
    next_stage(commands);
    const orr_vk_binding emit[] = {BUFFER(control),       {.buffer = order->buffer}, BUFFER(centres),
                                   BUFFER(shapes),        BUFFER(tile_counts),       BUFFER(sums),
                                   BUFFER(pair_tiles[0]), BUFFER(pair_splats[0])};
    bind(s, commands, ORR_SHADER_TILE_EMIT, emit, tiles);
    vkCmdDispatchIndirect(commands, s->control.buffer, offsetof(orr_vulkan_control, visible_groups));
    next_stage(commands);

    int from = 0;
    uint32_t tile_count = (uint32_t)(tiles[0] * tiles[1]);
    for (uint32_t shift = 0; shift == 0 || (tile_count - 1) >> shift; shift += 8) {
        const sort_pass pass = {
            .keys = s->pair_tiles,
            .values = s->pair_splats,
            .from = from,
            .counter = COUNT_PAIRS,
            .shift = shift,
            .blocks = offsetof(orr_vulkan_control, pair_blocks),
        };
        record_pass(s, commands, &pass);
        from = !from;
    }
    const orr_vk_binding ranges[] = {BUFFER(control), BUFFER(pair_tiles[from]), BUFFER(ranges)};
    bind(s, commands, ORR_SHADER_TILE_RANGES, ranges, NULL);
    vkCmdDispatchIndirect(commands, s->control.buffer, offsetof(orr_vulkan_control, pair_blocks));
    next_stage(commands);
    return from;
}

static void sort_fragments(const orr_vulkan_splats *s, VkCommandBuffer commands,
                           const orr_vulkan_splat_frame *frame, const int tiles[2])
{
    const int32_t size[2] = {frame->width, frame->height};
    const orr_vk_binding bindings[] = {{.buffer = frame->lists}, {.buffer = frame->nodes}};
    bind(s, commands, ORR_SHADER_FRAGMENT_SORT, bindings, size);
    vkCmdDispatch(commands, (uint32_t)tiles[0], (uint32_t)tiles[1], 1);
    next_stage(commands);
}

static void blend(const orr_vulkan_splats *s, VkCommandBuffer commands, const orr_vulkan_splat_frame *frame,
                  const int tiles[2], int pairs)
{
    const struct {
        int32_t size[2];
        uint32_t tiles_x, layers, opaque;
        orr_sky_values sky;
    } push = {{frame->width, frame->height},
              (uint32_t)tiles[0],
              (frame->has_meshes ? 1u : 0u) | (frame->fields ? 2u : 0u) | (frame->has_fragments ? 4u : 0u) |
                  (frame->has_backdrop ? 8u : 0u) | (frame->has_shadows ? 16u : 0u) |
                  (frame->has_environment ? 32u : 0u) | (frame->smooth ? 64u : 0u),
              frame->opaque,
              frame->sky};
    const orr_vk_binding bindings[] = {BUFFER(ranges),
                                       BUFFER(pair_splats[pairs]),
                                       BUFFER(centres),
                                       BUFFER(shapes),
                                       BUFFER(colours),
                                       {.view = frame->meshes, .sampler = s->sampler},
                                       {.buffer = frame->picture ? frame->picture : s->picture.buffer},
                                       BUFFER(depth),
                                       {.buffer = frame->fields ? frame->fields : s->control.buffer},
                                       {.buffer = frame->lists},
                                       {.buffer = frame->nodes},
                                       {.buffer = frame->lighting},
                                       {.view = frame->shadow_maps, .sampler = s->sampler},
                                       {.buffer = frame->environments},
                                       {.view = frame->samples, .sampler = s->sampler},
                                       {.buffer = frame->clouded ? s->clouds.buffer : s->control.buffer},
                                       {.buffer = frame->occlusion}}; // the last two: where they are read
    bind(s, commands, blend_shader(frame->clouded, frame->occluded), bindings, &push);
    vkCmdDispatch(commands, (uint32_t)tiles[0], (uint32_t)tiles[1], 1);
    orr_vk_barrier(commands, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
                   VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT);
}

static void begin(const orr_vulkan_splats *s, VkCommandBuffer commands, const orr_vulkan_control *control)
{
    vkCmdUpdateBuffer(commands, s->control.buffer, 0, sizeof *control, control);
    vkCmdFillBuffer(commands, s->ranges.buffer, 0, VK_WHOLE_SIZE, 0);
    orr_vk_barrier(commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                   VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
}

void orr_vulkan_splats_record_map(const orr_vulkan_splats *s, VkCommandBuffer commands,
                                  const orr_vulkan_layer *layer, VkBuffer pieces, const orr_cloud_map *map)
{
    const int tiles[2] = {map->size / ORR_VULKAN_TILE, map->size / ORR_VULKAN_TILE};
    const orr_vulkan_layer seen = {layer->cloud, map->lens, layer->first_piece};
    const orr_vulkan_control control = {.splats = (uint32_t)layer->cloud->count};
    const uint32_t push[2] = {(uint32_t)map->size, (uint32_t)map->first};
    begin(s, commands, &control);
    project(s, commands, &seen, 1, pieces, true);
    drop_invisible(s, commands, control.splats);
    const int pairs = bin(s, commands, &s->order[1], tiles);
    const orr_vk_binding bindings[] = {BUFFER(ranges),  BUFFER(pair_splats[pairs]),
                                       BUFFER(centres), BUFFER(shapes),
                                       BUFFER(colours), BUFFER(clouds)};
    bind(s, commands, ORR_SHADER_CLOUD_MAP, bindings, push);
    vkCmdDispatch(commands, (uint32_t)tiles[0], (uint32_t)tiles[1], 1);
}

void orr_vulkan_splats_record_table(const orr_vulkan_splats *s, VkCommandBuffer commands,
                                    const orr_cloud_table *table)
{
    vkCmdUpdateBuffer(commands, s->clouds.buffer, 0, sizeof *table, table);
    orr_vk_barrier(commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                   VK_ACCESS_2_SHADER_STORAGE_READ_BIT);
}

void orr_vulkan_splats_record(const orr_vulkan_splats *s, VkCommandBuffer commands,
                              const orr_vulkan_splat_frame *frame, orr_vulkan_marks *marks)
{
    const int tiles[2] = {orr_blocks(frame->width, ORR_VULKAN_TILE),
                          orr_blocks(frame->height, ORR_VULKAN_TILE)};
    orr_vulkan_control control = {0};
    memcpy(control.clip, frame->clip, sizeof control.clip);
    for (int i = 0; i < frame->layer_count; i++) {
        control.splats += (uint32_t)frame->layers[i].cloud->count;
    }
    begin(s, commands, &control);
    int pairs = 0;
    if (control.splats > 0) {
        project(s, commands, frame->layers, frame->layer_count, frame->pieces, false);
        orr_vulkan_mark(commands, marks, "project");
        sort_by_depth(s, commands, control.splats);
        orr_vulkan_mark(commands, marks, "sort");
        pairs = bin(s, commands, &s->order[0], tiles);
        orr_vulkan_mark(commands, marks, "bin");
    }
    if (frame->has_fragments) {
        sort_fragments(s, commands, frame, tiles);
        orr_vulkan_mark(commands, marks, "fragments");
    }
    blend(s, commands, frame, tiles, pairs);
    orr_vulkan_mark(commands, marks, "blend");
}
