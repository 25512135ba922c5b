// Worlds on a CUDA device, in a build without CUDA: never called, since no orr_cuda can be created.
#include "physics/simulation/world_device.h"

const orr_program *orr_device_program(bool double_precision)
{
    (void)double_precision;
    return NULL;
}

orr_result orr_device_create(const orr_physics_desc *desc, orr_physics *physics, orr_error *error)
{
    (void)desc;
    (void)physics;
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "CUDA is not in this build (NVIDIA's CUDA toolkit: nvcc)");
}

void orr_device_destroy(orr_device_worlds *device)
{
    (void)device;
}

orr_result orr_device_take_room(orr_physics *physics, orr_error *error)
{
    (void)physics;
    (void)error;
    return ORR_OK;
}

void orr_device_model_changed(orr_device_worlds *device)
{
    (void)device;
}

int orr_device_team(const orr_device_worlds *device)
{
    (void)device;
    return 1;
}

orr_cuda *orr_device_cuda(const orr_device_worlds *device)
{
    (void)device;
    return NULL;
}

orr_result orr_device_status(const orr_device_worlds *device, orr_error *error)
{
    (void)device;
    (void)error;
    return ORR_OK;
}

void orr_device_settle(const orr_physics *physics)
{
    (void)physics;
}

void orr_device_fetch(const orr_physics *physics, int first, int count)
{
    (void)physics;
    (void)first;
    (void)count;
}

void orr_device_change(orr_physics *physics, int first, int count)
{
    (void)physics;
    (void)first;
    (void)count;
}

bool orr_device_write(orr_physics *physics, int world, int at, int count, const double *values)
{
    (void)physics;
    (void)world;
    (void)at;
    (void)count;
    (void)values;
    return false;
}

orr_result orr_device_resize_state(orr_physics *physics, int state_count, orr_error *error)
{
    (void)physics;
    (void)state_count;
    (void)error;
    return ORR_OK;
}

void orr_device_run(orr_physics *physics, orr_program_call call, int steps, bool all)
{
    (void)all;
    (void)physics;
    (void)call;
    (void)steps;
}

int orr_device_blocks(const orr_physics *physics)
{
    (void)physics;
    return 0;
}

void orr_device_evaluate(orr_physics *physics, int first, int count, orr_program_call call)
{
    (void)physics;
    (void)first;
    (void)count;
    (void)call;
}

void orr_device_take(orr_physics *physics, int skip, int blocks, int at, int count, char *numbers)
{
    (void)physics;
    (void)skip;
    (void)blocks;
    (void)at;
    (void)count;
    (void)numbers;
}

orr_result orr_device_view(orr_physics *physics, bool in_state, int at, orr_physics_view *view,
                           orr_error *error)
{
    (void)physics;
    (void)in_state;
    (void)at;
    (void)view;
    (void)error;
    return ORR_OK;
}

void orr_physics_bodies_release(orr_physics_bodies *bodies)
{
    (void)bodies;
}

orr_result orr_device_take_bodies(orr_physics *physics, int world, int position_at, int rotation_at,
                                  orr_physics_bodies *bodies, orr_error *error)
{
    (void)physics;
    (void)world;
    (void)position_at;
    (void)rotation_at;
    (void)bodies;
    (void)error;
    return ORR_OK;
}

int orr_device_contacts(orr_physics *physics, int world, orr_physics_contact *contacts, int capacity)
{
    (void)physics;
    (void)world;
    (void)contacts;
    (void)capacity;
    return 0;
}
