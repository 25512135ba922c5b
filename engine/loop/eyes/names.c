#include "engine/loop/eyes/names.h"

#include "engine/core/memory.h"

orr_result orr_eyes_names_find(orr_eyes_names *names, const orr_scene *scene, const orr_frame_slot *slot,
                               orr_error *error)
{
    const orr_draw_list *list = &slot->list;
    ORR_GROW(names->meshes, names->mesh_capacity, list->mesh_count, "names of a picture", error);
    ORR_GROW(names->clouds, names->cloud_capacity, list->splat_count, "names of a picture", error);
    for (int i = 0; i < list->mesh_count; i++) {
        const int layer = slot->mesh_layers[i];
        const orr_robot_geom *geom = orr_layer_geom(&scene->layers[layer], slot->meshes[i].key);
        names->meshes[i] = (orr_item_name){layer, geom ? geom->geom : -1};
    }
    for (int i = 0; i < list->splat_count; i++) {
        names->clouds[i] = (orr_item_name){slot->splat_layers[i], -1};
    }
    return ORR_OK;
}

void orr_eyes_names_close(orr_eyes_names *names)
{
    orr_free(names->meshes);
    orr_free(names->clouds);
    *names = (orr_eyes_names){0};
}
