// Steps of training splats on CUDA (a GPU, or the emulated device) that are put ahead of what is known of the
// steps before them, and as graphs: to the bit what steps one by one leave, and what prunings leave there.
#include "render/training/cuda/splat_steps_state.h"
#include "render/training/splat_trainer_state.h"
#include "tests/training/machine_pair.h"

#include "orr_features.h"
#if ORR_CUDA_EMULATED
#include "tests/cuda_emu/emu.h"
#endif

#include <stdlib.h>
#include <string.h>

enum { SIDE = 36, LEARNED = 3, STEPS = 7 }; // [px] 3 x 3 tiles; photos are sent in the first three steps
static photos spheres;

static orr_splat_trainer_desc describe(void)
{
    return (orr_splat_trainer_desc){.capture = &spheres.capture,
                                    .images = spheres.indices,
                                    .image_count = LEARNED,
                                    .jobs = jobs,
                                    .isa = isa,
                                    .splats = 100,
                                    .sh_degree = 1,
                                    .cuda = cuda,
                                    .seed = 1};
}

// How a training takes its steps.
typedef enum taking { ONE_BY_ONE, KERNEL_BY_KERNEL, BY_GRAPHS } taking;

static void take_steps(const orr_splat_trainer_desc *desc, taking how, orr_splat_state *state,
                       double losses[STEPS])
{
    orr_splat_trainer *trainer = make_trainer(desc);
    trainer->device->uncaptured = how != BY_GRAPHS;
    for (int i = 0; i < STEPS; i++) {
        losses[i] = take_step(trainer, 0.5); // the same sizes throughout
        if (how == ONE_BY_ONE) {
            assert_ok(orr_cuda_splat_steps_settle(trainer->device, &error));
            losses[i] = trainer->device->last.loss;
        }
    }
    take_state(trainer, state);
    orr_splat_trainer_destroy(trainer);
}

static void assert_same_states(const orr_splat_state *a, const orr_splat_state *b)
{
    assert_same_params(&a->params, &b->params);
    for (int i = 0; i < a->image_count; i++) {
        assert_memory_equal(&a->views[i], &b->views[i], sizeof a->views[i]);
        if (a->grids) {
            assert_memory_equal(&a->grids[i], &b->grids[i], sizeof a->grids[i]);
        }
    }
}

// Photos have alpha. ADC keeps a statistic; mcmc walks by the number of the step; exposures and poses make
// every step depend on what the one before it left for the host.
static void steps_have_the_bits_of_steps_one_by_one(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        orr_splat_trainer_desc desc = describe();
        orr_splat_state states[3];
        double losses[3][STEPS];
        desc.strategy = kind == 1 ? ORR_SPLAT_ADC : ORR_SPLAT_MCMC;
        desc.bilateral_grid = kind == 1;
        desc.exposures = desc.refine_poses = kind == 2;
        for (int how = 0; how < 3; how++) { // two ways of the dearer kinds
            if (how != KERNEL_BY_KERNEL || kind == 0) {
                take_steps(&desc, (taking)how, &states[how], losses[how]);
            }
        }
        for (int how = 1; how < 3; how++) {
            if (how == KERNEL_BY_KERNEL && kind > 0) {
                continue;
            }
            assert_same_states(&states[0], &states[how]);
            for (int i = 0; i < STEPS; i++) { // without poses and exposures, that of the step before
                const int of = kind == 2 || i == 0 ? i : i - 1;
                assert_true(losses[how][i] == losses[0][of]);
            }
            orr_splat_state_destroy(&states[how]);
        }
        orr_splat_state_destroy(&states[0]);
    }
}

// A few splats on all tiles. There is room for 4 pairs of each; more is taken away again while a step is
// under way, so that the next finds none, and neither it nor the one behind it moves anything before they are
// put again.
static void steps_without_room_are_put_again(void **state)
{
    (void)state;
    orr_splat_state states[2];
    for (int way = 0; way < 2; way++) {
        orr_splat_trainer_desc desc = describe();
        desc.splats = 40;
        desc.bilateral_grid = true;
        orr_splat_trainer *trainer = make_trainer(&desc);
        const uint32_t least = 4 * (uint32_t)trainer->params.count;
        for (int i = 0; i < STEPS; i++) {
            orr_cuda_stages *stages = &trainer->device->stages;
            const uint32_t room = stages->pair_capacity;
            const bool narrow = way == 1 && (i == STEPS - 3 || i == STEPS - 1);
            assert_true(!narrow || room > least);
            stages->pair_capacity = narrow ? least : room;
            take_step(trainer, 0.5);
            if (narrow && i == STEPS - 3) {
                stages->pair_capacity = room; // the step behind has room by itself
            }
        }
        take_state(trainer, &states[way]);
        assert_true(trainer->device->stages.pair_capacity > least);
        orr_splat_trainer_destroy(trainer);
    }
    assert_same_states(&states[0], &states[1]);
    orr_splat_state_destroy(&states[0]);
    orr_splat_state_destroy(&states[1]);
}

// The number of graphs that can run.
static int runnable_graphs(const orr_cuda_splat_steps *s)
{
    int count = 0;
    for (int i = 0; i < ORR_CUDA_STEP_GRAPHS; i++) {
        for (int k = 0; k < ORR_CUDA_FLIGHTS; k++) {
            count += s->graphs[i].runnable[k] != NULL;
        }
    }
    return count;
}

// The first step of its kind is put kernel by kernel, the next two are captured, and what follows is one
// call; another kind of step, or another number of splats, begins anew.
static void steps_of_one_kind_are_captured_once(void **state)
{
    (void)state;
    orr_splat_trainer_desc desc = describe();
    desc.strategy = ORR_SPLAT_ADC;
    orr_splat_trainer *trainer = make_trainer(&desc);
    for (int i = 0; i < LEARNED + 2; i++) { // photos are sent, which lets the host wait; the degree rises
        take_step(trainer, 0.9);
    }
    assert_int_equal(runnable_graphs(trainer->device), 2);
#if ORR_CUDA_EMULATED
    const size_t idle = idle_waits(), submitted = submissions(), ran = launches();
    take_step(trainer, 0.9);
    take_step(trainer, 0.9);
    assert_int_equal(idle_waits(), idle);               // the device has always something to do
    assert_int_equal(submissions(), submitted + 2 * 2); // a graph, and the mark of its end
    print_message("a step: %d kernels\n", (int)(launches() - ran) / 2);
    assert_true(launches() > ran + 2 * 15);
#endif
    assert_int_equal(runnable_graphs(trainer->device), 2);
#if ORR_CUDA_EMULATED
    const size_t before = submissions();
#endif
    take_step(trainer, 0.1); // with the statistic of divisions: kernel by kernel
#if ORR_CUDA_EMULATED
    print_message("kernel by kernel: %d calls\n", (int)(submissions() - before));
    assert_true(submissions() > before + 20);
#endif
    assert_int_equal(runnable_graphs(trainer->device), 2);
    take_step(trainer, 0.9);
    assert_int_equal(runnable_graphs(trainer->device), 2);
    assert_ok(orr_splat_trainer_prune(trainer, 0.9, 0.2, &error));
    take_step(trainer, 0.9);
    assert_int_equal(runnable_graphs(trainer->device), 2);
    take_step(trainer, 0.9);
    assert_int_equal(runnable_graphs(trainer->device), 3);
    take_step(trainer, 0.9);
    assert_ok(orr_cuda_splat_steps_settle(trainer->device, &error));
    trainer->device->frame.counted[1].splats = 1; // as a step of one splat would have left it
    take_step(trainer, 0.9);
    assert_ok(orr_cuda_splat_steps_settle(trainer->device, &error));
    assert_int_equal(runnable_graphs(trainer->device), 4);
    assert_int_equal(trainer->device->frame.counted->splats, trainer->params.count);
    orr_splat_trainer_destroy(trainer);
}

typedef struct ranked {
    double weight;
    int64_t splat;
} ranked;

static int by_weight(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->weight != y->weight ? (x->weight > y->weight) - (x->weight < y->weight)
                                  : (x->splat > y->splat) - (x->splat < y->splat);
}

static void assert_moved(const float *before, const float *after, const int64_t *from, int64_t count,
                         int members)
{
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < members; k++) {
            assert_memory_equal(&after[orr_param_index(i, members, k)],
                                &before[orr_param_index(from[i], members, k)], sizeof(float));
        }
    }
}

// Two fifths of the splats, by what they weigh: the others keep their order and every number of theirs; lanes
// behind them draw nothing. Of the splats only weights come to the host.
static void prunings_on_the_device_move_whole_splats(void **state)
{
    (void)state;
    orr_splat_trainer_desc desc = describe();
    orr_splat_state before;
    desc.strategy = ORR_SPLAT_ADC;
    orr_splat_trainer *trainer = make_trainer(&desc);
    for (int i = 0; i < 3; i++) {
        take_step(trainer, 0.5);
    }
    take_state(trainer, &before);
    const int64_t all = before.params.count, pruned = (int64_t)(0.4 * (double)all);
    double *weights = orr_alloc((size_t)all, sizeof *weights);
    ranked *ranks = orr_alloc((size_t)all, sizeof *ranks);
    int64_t *from = orr_alloc((size_t)all, sizeof *from), left = 0;
    assert_true(weights && ranks && from);
    assert_ok(orr_splat_trainer_weights(trainer, 0.5, weights, &error));
    for (int64_t i = 0; i < all; i++) {
        ranks[i] = (ranked){weights[i], i};
    }
    qsort(ranks, (size_t)all, sizeof *ranks, by_weight);
    for (int64_t i = 0; i < pruned; i++) {
        weights[ranks[i].splat] = -1.0;
    }
    for (int64_t i = 0; i < all; i++) {
        if (weights[i] >= 0.0) {
            from[left++] = i;
        }
    }
#if ORR_CUDA_EMULATED
    const size_t copies = copies_to_host();
#endif
    assert_ok(orr_splat_trainer_prune(trainer, 0.5, 0.4, &error));
#if ORR_CUDA_EMULATED
    // the counts of each photo's frame, and the weights
    assert_int_equal(copies_to_host(), copies + (size_t)LEARNED + 1);
#endif
    assert_true(trainer->device_ahead && trainer->params.count == left && left == all - pruned);
    assert_true(left % ORR_PACK_BLOCK != 0);
    assert_ok(orr_splat_trainer_fetch(trainer, &error));
    const orr_splat_params *a = &before.params, *b = &trainer->params;
    const int harmonics = orr_harmonics_members(b->degree);
    for (int set = 0; set < 3; set++) {
        assert_moved(a->stored[set], b->stored[set], from, left, ORR_STORED);
        assert_moved(a->harmonics[set], b->harmonics[set], from, left, harmonics);
    }
    assert_moved(a->statistic[0], b->statistic[0], from, left, 1);
    assert_moved(a->statistic[1], b->statistic[1], from, left, 1);
    for (int64_t i = left; i % ORR_PACK_BLOCK != 0; i++) { // an opacity of e^-60
        assert_true(b->stored[0][orr_param_index(i, ORR_STORED, 9)] == 1.0f);
        assert_true(b->stored[0][orr_param_index(i, ORR_STORED, 10)] == -60.0f);
    }
    orr_free(weights);
    orr_free(ranks);
    orr_free(from);
    orr_splat_state_destroy(&before);
    orr_splat_trainer_destroy(trainer);
}

static int open_all(void **state)
{
    photo_plan plan = sphere_photos;
    plan.size = SIDE;
    take_photos(&plan, &spheres);
    return open_cuda_machine(state);
}

static int close_all(void **state)
{
    drop_photos(&spheres);
    return close_machine(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_have_the_bits_of_steps_one_by_one),
        cmocka_unit_test(steps_without_room_are_put_again),
        cmocka_unit_test(steps_of_one_kind_are_captured_once),
        cmocka_unit_test(prunings_on_the_device_move_whole_splats),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
