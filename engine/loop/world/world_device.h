// Which device simulates the robots of a world: the CPU, or CUDA.
#pragma once

#include "engine/loop/engine.h"
#include "engine/loop/world/world_robots.h"

// Is it CUDA for so many copies? device: ORR_DEVICE_AUTO, _CPU or _CUDA.
bool orr_world_device_is_cuda(const orr_engine *engine, orr_device_kind device, int worlds);
// Physics of a robot, on CUDA or on the CPU. When CUDA cannot hold it, the log gets a warning and the CPU
// simulates it; `or_fail`: it is an error. `name` is the layer's, for messages.
orr_result orr_world_physics_create(const orr_world_robots *robots, bool on_cuda, bool or_fail,
                                    const char *name, const orr_model *model, orr_physics **physics,
                                    orr_error *error);
// Gives all worlds the state that they have in another physics of the same model.
orr_result orr_world_physics_copy(orr_physics *from, orr_physics *to, orr_error *error);
