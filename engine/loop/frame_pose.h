// Pose: the transforms of everything in one view of one world, copied, so that the world may move on while it
// is drawn.
#pragma once

#include "engine/loop/world/soft/node_points.h"
#include "engine/loop/world/soft/world_soft.h"
#include "render/shadow/self_shadow.h"
#include "render/splat/deform.h"

// How a soft layer is deformed in a frame.
typedef struct orr_frame_soft {
    orr_affine_piece *pieces; // capacity
    int capacity;
    const double *position; // of the vertices of its cage, x 3, in the scene: of the world, or these points
    double *points;         // point_capacity: of one that nodes move
    int point_capacity;
    orr_node_scratch scratch;
    orr_deformed mesh; // of a mesh
} orr_frame_soft;

// A cloud in the light of lamps where it is (frame_relight.h).
typedef struct orr_frame_relit {
    orr_splat_pack pack; // that of its layer, but for the harmonics
    float *harmonics;    // of the pack, owned
    uint64_t key;        // as it is drawn: a hash of the cloud, of where it is, and of its light; 0: not made
} orr_frame_relit;

// A submitted frame.
typedef struct orr_frame_slot {
    orr_draw_list list;
    orr_frame_soft *softs; // soft_capacity, by layer: what is drawn of soft ones
    int soft_capacity;
    orr_frame_relit *relit; // relit_capacity, by layer
    int relit_capacity;
    orr_draw_splats *splats; // capacity each
    orr_draw_mesh *meshes;
    orr_draw_field *fields;
    int32_t *mesh_layers;  // of each of the meshes: which layer of the scene draws it
    int32_t *splat_layers; // likewise
    int32_t *field_layers;
    int capacity;
    orr_robot_bodies *robots; // robot_capacity, by layer: where CUDA finds bodies of robots that it simulates
    int robot_capacity;
    orr_environment *probe_maps[ORR_DRAW_ENVIRONMENTS - 1]; // of its probes; NULL: not allocated
    orr_self_shadow *self_shadow;                           // of its list, held by it; NULL: there is none
    bool deferred;   // drawn once it is the oldest: the host draws a part of it, or of one before it
    bool for_window; // its picture may end in an image of the Vulkan device,
    bool to_image;   // and does so: decided when the machine gets it
    bool lost;       // the device that it was submitted to has failed, and no other can draw it
    int traced_as;   // the trace's number of this frame
} orr_frame_slot;

// Does only a device know where some of the bodies are?
static inline bool orr_frame_slot_is_on_device(const orr_frame_slot *slot)
{
    for (int i = 0; i < slot->list.mesh_count; i++) {
        if (slot->list.meshes[i].bodies) {
            return true;
        }
    }
    return false;
}

// Fills in the slot's list from the view: each visible layer, with its transform. device_bodies: the machine
// that draws finds bodies of robots that are simulated on its device in its own memory.
orr_result orr_frame_pose(orr_frame_slot *slot, const orr_scene *scene, const orr_world *world,
                          const orr_view *view, bool device_bodies, orr_error *error);
// Layers of all kinds meet in one projection: where one of them is only seen through a pinhole, all are.
// Meshes are; clouds are not where what draws them knows how a lens bends splats
// (splat_unscented_formula.h).
void orr_frame_fit_lens(orr_draw_list *list, bool clouds);
// Frees what a soft layer has in a slot.
void orr_frame_soft_clear(orr_frame_soft *soft);
// Frees what the slot owns. No machine may draw it any more.
void orr_frame_slot_close(orr_frame_slot *slot);
