#include "tests/support/scenes/fog.h"

#include "tests/support/support.h"

static bool keep_sheets(const void *context, const float low[3], float side)
{
    (void)context;
    return (int)(low[2] / side + 0.5f) % 8 == 0;
}

orr_field *make_fog(const orr_engine *engine, uint32_t seed, int rgb_width)
{
    orr_field *field;
    orr_field_desc desc = {.kind = ORR_FIELD_NERF, .seed = seed, .isa = engine->isa, .machine = ORR_MLP_FP32};
    assert_ok(orr_field_config_base(ORR_FIELD_NERF, &desc.config, &error));
    desc.config.encoding.log2_hashmap_size = 12;
    desc.config.rgb_network.width = rgb_width;
    assert_ok(orr_field_create(&desc, &field, &error));
    orr_field_config_free(&desc.config);
    const orr_field_parts *parts = orr_field_parts_of(field);
    for (int64_t i = 0; i < parts->encoding.parameter_count; i++) {
        parts->table[i] *= 8e4f; // features of +-8 instead of almost nothing: denser here, clear there
    }
    orr_field_refresh(field, NULL, NULL, NULL);
    return field;
}

void make_sheets(const orr_engine *engine, orr_occupancy *grid)
{
    assert_ok(orr_occupancy_create(1, grid, &error));
    orr_occupancy_cull(grid, engine->jobs, keep_sheets, NULL);
}
