// Which machine moves the robots of a world: the CPU, or a CUDA device.
#pragma once

#include "engine/loop/scene.h"

// Is it CUDA that so many copies belong on? wanted: ORR_DEVICE_AUTO, _CPU or _CUDA.
bool orr_machine_is_cuda(const orr_engine *engine, orr_device_kind wanted, int worlds);
// Physics of a robot, there. When CUDA cannot hold it a line in the log says so, and the CPU has it.
orr_result orr_machine_open(orr_engine *engine, bool on_cuda, int worlds, const char *name,
                            const orr_model *model, orr_physics **physics, orr_error *error);
// Gives all worlds the state that they have in another physics of the same model.
orr_result orr_machine_copy_states(orr_physics *from, orr_physics *to, orr_error *error);
