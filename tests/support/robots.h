// The robots that tests run over: this repository's, and Gymnasium's where the shared data are (support.h).
#pragma once

// name: of the recordings in tests/golden; path: of the MJCF file
typedef void robot_test(const char *name, const char *path);

void for_each_robot(robot_test *test);

// The MJCF file of a robot of this repository: arm_hand, biped or quadruped. The pointer stays valid until
// the next call.
const char *own_robot(const char *name);
