#include "engine/loop/frame_uploads.h"

#include "engine/core/memory.h"

static bool has_key(const orr_scene *scene, uint64_t key)
{
    for (int i = 0; i < scene->layer_count; i++) {
        const orr_layer_data *layer = &scene->layers[i];
        if (key - layer->key < (uint64_t)layer->key_count) {
            return true;
        }
    }
    return false;
}

static bool is_deformed(const orr_frame_slot *slot, const orr_mesh *mesh)
{
    for (int i = 0; i < slot->soft_capacity; i++) {
        if (mesh == &slot->softs[i].mesh.mesh) {
            return true;
        }
    }
    return false;
}

// Does the slot show a cloud of this key in the light of lamps?
static bool is_shown(const orr_frame_slot *slot, uint64_t key)
{
    for (int i = 0; i < slot->list.splat_count; i++) {
        if (slot->list.splats[i].key == key) {
            return true;
        }
    }
    return false;
}

// Keys of what is uploaded for this frame alone, as long as nothing moves.
static orr_result note_deformed(orr_frame *frame, const orr_frame_slot *slot, orr_error *error)
{
    const orr_draw_list *list = &slot->list;
    ORR_GROW(frame->keys, frame->key_capacity, frame->key_count + list->mesh_count + list->splat_count,
             "layers", error);
    for (int i = 0; i < list->mesh_count; i++) {
        if (is_deformed(slot, list->meshes[i].mesh)) {
            frame->keys[frame->key_count++] = list->meshes[i].key;
        }
    }
    for (int i = 0; i < list->splat_count; i++) {
        const int layer = slot->splat_layers[i];
        if (layer < slot->relit_capacity && list->splats[i].pack == &slot->relit[layer].pack) {
            frame->keys[frame->key_count++] = list->splats[i].key;
        }
    }
    return ORR_OK;
}

orr_result orr_frame_release_removed(orr_frame *frame, const orr_frame_slot *slot, const orr_scene *scene,
                                     orr_error *error)
{
    if (!frame->machine->release) {
        return ORR_OK;
    }
    for (int i = 0; i < frame->key_count; i++) {
        if (!has_key(scene, frame->keys[i]) && !is_shown(slot, frame->keys[i])) {
            frame->machine->release(frame->state, frame->keys[i]);
        }
    }
    frame->key_count = 0;
    int count = 0;
    for (int i = 0; i < scene->layer_count; i++) {
        count += scene->layers[i].key_count;
    }
    ORR_GROW(frame->keys, frame->key_capacity, count, "layers", error);
    for (int i = 0; i < scene->layer_count; i++) {
        for (int k = 0; k < scene->layers[i].key_count; k++) {
            frame->keys[frame->key_count++] = scene->layers[i].key + (uint64_t)k;
        }
    }
    return note_deformed(frame, slot, error);
}
