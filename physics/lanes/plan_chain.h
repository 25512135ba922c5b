// A part of the plan: which dofs move what.
#pragma once

#include "physics/lanes/plan.h"

// Chains of the plan's pairs, of equalities, tendons and actuators, in that order. The pairs must be known.
orr_result plan_find_chains(orr_plan *plan, orr_error *error);
