// compare_model MODEL RECORDING: every size and array of a compiled model against a recording of MuJoCo's
// (tests/golden/record_models.py); prints the differences. Exits with 1 when there are any.
#include "physics/load/load.h"
#include "tests/physics/golden_model.h"
#include "tests/support/support.h"

#include <stdio.h>

static const char *model_path, *recording;

static void compare(void **state)
{
    (void)state;
    orr_model *model;
    assert_ok(orr_model_load(model_path, &model, &error));
    assert_true(assert_golden_model(model, recording) > 0);
    orr_model_destroy(model);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: compare_model MODEL RECORDING\n");
        return 1;
    }
    model_path = argv[1];
    recording = argv[2];
    const struct CMUnitTest tests[] = {cmocka_unit_test(compare)};
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
