// A model's contacts on the machine of a test program against recorded ones.
#pragma once

#include "tests/physics/golden_contacts.h"
#include "tests/physics/machine_physics.h"

#include <stdlib.h>
#include <string.h>

// Holds the contacts of a model's pairs against those that a script recorded for poses of each pair's second
// geom, whose body is free. A search of MuJoCo's or of ours can take another step: a share of the contacts
// may be elsewhere (a tenth in double, a quarter in float) or missing (a twentieth; of meshes, where two
// triangles find the same point of their edge by rounding, a tenth).
static inline void assert_recorded_contacts(const orr_model *m, const char *recorded, bool double_precision)
{
    enum { MOST = 64, PAIRS = 16 };
    golden_numbers file = golden_numbers_load(recorded);
    orr_physics *physics = make_physics(m, 1, double_precision);
    const int pairs = (int)*golden_numbers_take(&file, 1);
    int same[PAIRS] = {0}, all[PAIRS] = {0}, found[PAIRS] = {0};
    const double tolerance = double_precision ? 1e-5 : 1e-3;
    double *qpos = orr_alloc((size_t)m->nq, sizeof *qpos);
    assert_int_equal(pairs, m->npair);
    while (file.next < file.behind) {
        const int pair = (int)*golden_numbers_take(&file, 1);
        const double *pose = golden_numbers_take(&file, 7);
        const int expected_count = (int)*golden_numbers_take(&file, 1);
        const double *expected = golden_numbers_take(&file, CONTACT_NUMBERS * expected_count);
        const int body = m->geom_bodyid[m->pair_geom2[pair]];
        orr_physics_contact contacts[MOST];
        orr_physics_reset(physics, 0);
        orr_physics_get(physics, ORR_PHYSICS_QPOS, 0, qpos);
        memcpy(qpos + m->jnt_qposadr[m->body_jntadr[body]], pose, 7 * sizeof *pose);
        orr_physics_set(physics, ORR_PHYSICS_QPOS, 0, qpos);
        const int count = orr_physics_contacts(physics, 0, contacts, MOST);
        all[pair] += expected_count;
        found[pair] += count;
        for (int i = 0; i < count; i++) {
            same[pair] += contact_error(&contacts[i], expected, expected_count) < tolerance;
        }
    }
    for (int k = 0; k < pairs; k++) {
        print_message("%s and %s in f%d: %d contacts, %d found, %d the same\n",
                      orr_model_name(m, ORR_OBJECT_GEOM, m->pair_geom1[k]),
                      orr_model_name(m, ORR_OBJECT_GEOM, m->pair_geom2[k]), double_precision ? 64 : 32,
                      all[k], found[k], same[k]);
    }
    for (int k = 0; k < pairs; k++) {
        const bool of_mesh = m->geom_type[m->pair_geom1[k]] == ORR_GEOM_MESH;
        assert_true(abs(found[k] - all[k]) <= all[k] / (of_mesh ? 10 : 20));
        assert_true(same[k] >= (double_precision ? all[k] * 9 / 10 : all[k] * 3 / 4));
    }
    orr_free(qpos);
    orr_physics_destroy(physics);
    orr_free(file.numbers);
}
