// Level of detail of eyes' pictures: round surfaces or fewer triangles for round geoms of robots, merged
// splats for clouds. The choice is the same for all machines that draw; those without rays draw the fewer
// triangles.
#pragma once

#include "engine/loop/frame_pose.h"

typedef struct orr_eyes_detail orr_eyes_detail;

// Of what `desc` says: *out is NULL where everything is drawn in full. ORR_ERROR_MEMORY.
orr_result orr_eyes_detail_create(const orr_eyes_desc *desc, orr_eyes_detail **out, orr_error *error);
void orr_eyes_detail_destroy(orr_eyes_detail *detail); // NULL is allowed

// Of a slot that is posed. What merges a cloud's splats is made when the cloud is first in a slot, or is
// another than before; it must outlive the drawing of the slot. Clouds that follow soft bodies, those in
// training and robots whose bodies only CUDA has are drawn in full.
orr_result orr_eyes_detail_apply(orr_eyes_detail *detail, orr_jobs *jobs, const orr_scene *scene,
                                 orr_frame_slot *slot, orr_error *error);
