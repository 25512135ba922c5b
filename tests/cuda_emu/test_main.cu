#include "tests.h"

int main(void)
{
    int failed =
        _cmocka_run_group_tests("emulated device", emulation_tests, emulation_test_count, NULL, NULL);
    return failed + _cmocka_run_group_tests("what it must not let pass", failure_tests, failure_test_count,
                                            NULL, NULL);
}
