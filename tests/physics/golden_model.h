// A model against a recording of MuJoCo's by tests/golden/record_models.py.
#pragma once

#include "physics/model/model.h"

// Compares every size and array in the file; fails the test with the name, row and column of the first
// difference, and returns how many numbers agreed.
int assert_golden_model(const orr_model *model, const char *golden);
