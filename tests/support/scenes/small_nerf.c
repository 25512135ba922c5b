#include "tests/support/scenes/small_nerf.h"

#include "engine/core/memory.h"
#include "neural/fields/proposal.h"
#include "tests/support/machine.h"

orr_field *small_field(int aabb_scale, bool unbounded, const char *changes)
{
    orr_field_desc desc = {.kind = ORR_FIELD_NERF,
                           .aabb_scale = aabb_scale,
                           .unbounded = unbounded,
                           .seed = 7,
                           .isa = isa,
                           .desired_resolution = 128.0};
    assert_ok(orr_nerf_training_config(&desc.config, &error));
    desc.config.encoding.levels = 4;
    desc.config.encoding.log2_hashmap_size = 14;
    assert_ok(orr_field_config_parse(changes, "test", &desc.config, &error));
    orr_field *field;
    assert_ok(orr_field_create(&desc, &field, &error));
    orr_field_config_free(&desc.config);
    return field;
}

orr_nerf_trainer *small_trainer(orr_field *field, const photos *p, orr_jobs *with)
{
    orr_nerf_trainer_desc desc = {.capture = &p->capture,
                                  .images = p->indices,
                                  .image_count = p->learned,
                                  .jobs = with,
                                  .target_samples = 1 << 12,
                                  .seed = 3};
    orr_nerf_trainer *trainer;
    assert_ok(orr_nerf_trainer_create(field, &desc, &trainer, &error));
    return trainer;
}

void train(orr_nerf_trainer *trainer, int steps)
{
    orr_nerf_step_report report;
    for (int i = 0; i < steps; i++) {
        assert_ok(orr_nerf_trainer_step(trainer, &report, &error));
    }
    assert_ok(orr_nerf_trainer_refresh(trainer, &error));
}

void *training_state(orr_nerf_trainer *trainer, size_t *size)
{
    *size = orr_nerf_trainer_state_size(trainer);
    void *state = orr_alloc(*size, 1);
    assert_non_null(state);
    assert_ok(orr_nerf_trainer_state_save(trainer, state, &error));
    return state;
}

static void assert_same_floats(const float *a, const float *b, int64_t count)
{
    assert_memory_equal(a, b, (size_t)count * sizeof *a);
}

void assert_same_field(const orr_field *a, const orr_field *b)
{
    const orr_field_parts *x = orr_field_parts_of(a), *y = orr_field_parts_of(b);
    assert_same_floats(x->table, y->table, x->encoding.parameter_count);
    assert_same_floats(x->inference_table, y->inference_table, x->encoding.parameter_count);
    assert_same_floats(x->network_parameters, y->network_parameters, x->network.parameter_count);
    assert_same_floats(x->rgb_network_parameters, y->rgb_network_parameters, x->rgb_network.parameter_count);
    assert_int_equal(x->proposal != NULL, y->proposal != NULL);
    if (x->proposal) {
        const int64_t count = x->proposal->encoding.parameter_count;
        assert_same_floats(x->proposal->table, y->proposal->table, count);
        assert_same_floats(x->proposal->inference_table, y->proposal->inference_table, count);
        assert_same_floats(x->proposal->network_parameters, y->proposal->network_parameters,
                           x->proposal->network.parameter_count);
    }
}

void assert_threads_change_no_bit(const photos *p, bool unbounded, int steps)
{
    orr_field *first = small_field(p->capture.aabb_scale, unbounded, "{}");
    orr_nerf_trainer *trainer = small_trainer(first, p, jobs);
    train(trainer, steps);
    for (int threads = 1; threads <= 3; threads += 2) {
        orr_jobs *others;
        assert_ok(orr_jobs_create(threads, NULL, NULL, &others, &error));
        orr_field *field = small_field(p->capture.aabb_scale, unbounded, "{}");
        orr_nerf_trainer *other = small_trainer(field, p, others);
        train(other, steps);
        assert_same_field(first, field);
        orr_nerf_trainer_destroy(other);
        orr_field_destroy(field);
        orr_jobs_destroy(others);
    }
    orr_nerf_trainer_destroy(trainer);
    orr_field_destroy(first);
}

void assert_resuming_changes_no_bit(const photos *p, bool unbounded, int steps_before, int steps_after)
{
    orr_field *first = small_field(p->capture.aabb_scale, unbounded, "{}");
    orr_nerf_trainer *trainer = small_trainer(first, p, jobs);
    train(trainer, steps_before);
    size_t size;
    void *saved = training_state(trainer, &size);
    train(trainer, steps_after);
    orr_field *second = small_field(p->capture.aabb_scale, unbounded, "{}");
    orr_nerf_trainer *other = small_trainer(second, p, jobs);
    assert_ok(orr_nerf_trainer_state_load(other, saved, size, &error));
    train(other, steps_after);
    assert_same_field(first, second);
    assert_int_equal(orr_nerf_trainer_steps(other), steps_before + steps_after);
    orr_error error;
    assert_int_equal(orr_nerf_trainer_state_load(other, saved, size - 1, &error), ORR_ERROR_FORMAT);
    orr_free(saved);
    orr_nerf_trainer_destroy(trainer);
    orr_nerf_trainer_destroy(other);
    orr_field_destroy(first);
    orr_field_destroy(second);
}
