// Pictures of eyes that the CPU draws: posed one after the other, then one for each thread.
#pragma once

#include "engine/loop/frame_pose.h"

typedef struct orr_eyes_cpu orr_eyes_cpu;

// `eyes` is borrowed, `desc` is not.
orr_result orr_eyes_cpu_create(const orr_eyes *eyes, const orr_eyes_desc *desc, orr_eyes_cpu **cpu,
                               orr_error *error);
void orr_eyes_cpu_destroy(orr_eyes_cpu *cpu); // NULL is allowed
// As orr_eyes_draw.
orr_result orr_eyes_cpu_draw(orr_eyes_cpu *cpu, const uint8_t *chosen, const orr_eyes_pictures *pictures,
                             orr_error *error);
