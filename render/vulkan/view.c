#include "render/vulkan/view.h"

#include "engine/core/memory.h"
#include "render/shadow/self_shadow.h"

#include <string.h>

void orr_vulkan_view_free(orr_vulkan_view *view)
{
    orr_free(view->layers);
    orr_free(view->meshes);
    orr_cloud_maps_free(&view->clouds);
}

static orr_result take_layers(orr_vulkan_store *store, orr_vulkan_view *view, uint64_t frame, uint64_t oldest,
                              const orr_draw_list *list, size_t *allocations, orr_error *error)
{
    if (list->splat_count > view->layer_capacity) {
        orr_free(view->layers);
        view->layer_capacity = 0;
        ORR_ALLOC(view->layers, list->splat_count, "layers of a frame", error);
        view->layer_capacity = list->splat_count;
        ++*allocations;
    }
    view->layer_count = list->splat_count;
    uint32_t first_piece = 0;
    for (int i = 0; i < list->splat_count; i++) {
        orr_vulkan_layer *layer = &view->layers[i];
        const orr_vulkan_stored *item;
        ORR_TRY(orr_vulkan_store_take(store, &list->splats[i], NULL, frame, oldest, &item, error));
        layer->cloud = item->cloud;
        layer->first_piece = first_piece;
        first_piece += (uint32_t)list->splats[i].deformation.piece_count;
        ORR_TRY(orr_splat_lens_make(&list->lens, &list->splats[i], &layer->lens, error));
    }
    return ORR_OK;
}

static orr_result take_meshes(orr_vulkan_store *store, orr_vulkan_view *view, uint64_t frame, uint64_t oldest,
                              const orr_draw_list *list, size_t *allocations, orr_error *error)
{
    view->has_backdrop = list->backdrop.mesh != NULL;
    view->mesh_count = list->mesh_count + (view->has_backdrop ? 1 : 0);
    view->has_blended = view->has_networks = view->has_second_uv = false;
    if (view->mesh_count > view->mesh_capacity) {
        orr_free(view->meshes);
        view->mesh_capacity = 0;
        ORR_ALLOC(view->meshes, view->mesh_count, "meshes of a frame", error);
        view->mesh_capacity = view->mesh_count;
        ++*allocations;
    }
    for (int i = 0; i < view->mesh_count; i++) {
        const int index = i - (view->has_backdrop ? 1 : 0);
        const orr_draw_mesh *from = index < 0 ? &list->backdrop : &list->meshes[index];
        const orr_vulkan_stored *item;
        ORR_TRY(orr_vulkan_store_take(store, NULL, from, frame, oldest, &item, error));
        view->meshes[i] = (orr_vulkan_mesh_item){.mesh = item->mesh, .backdrop = index < 0, .index = index};
        view->meshes[i].environment = from->environment;
        view->meshes[i].endless = from->endless;
        memcpy(view->meshes[i].model, from->model, sizeof view->meshes[i].model);
        view->has_blended |= orr_mesh_is_blended(from->mesh, list->rays != NULL) && !list->only_solid;
        view->has_networks |= item->mesh->networks != NULL;
        view->has_second_uv |= item->mesh->second_uv.buffer != VK_NULL_HANDLE;
    }
    view->smooth = list->smooth && view->mesh_count > 0;
    return ORR_OK;
}

orr_result orr_vulkan_view_take(orr_vulkan_store *store, orr_vulkan_view *view, uint64_t frame,
                                uint64_t oldest, const orr_draw_list *list, orr_jobs *jobs, orr_arena *arena,
                                size_t *allocations, orr_error *error)
{
    view->lens = list->lens;
    orr_draw_light_up(list, &view->lighting);
    orr_shadow_plan_make(list, &view->shadows);
    ORR_TRY(orr_cloud_maps_find(jobs, arena, list, NULL, &view->shadows, &view->clouds, error));
    view->eye = orr_shadow_eye_of(&list->lens, list->umbra, orr_draw_captured_by_lamp(list));
    view->self_shadow =
        orr_self_shadow_values(orr_self_shadow_of_capture(list->self_shadow), list->lens.view);
    view->occlusion = orr_occlusion_of(list);
    if (list->mesh_count == 0) {
        view->occlusion.radius = 0.0f;
    }
    view->opaque = list->opaque;
    view->environment_behind = list->environment_behind;
    view->sky = orr_sky_as_seen(&list->sky, &list->lens);
    ORR_TRY(take_layers(store, view, frame, oldest, list, allocations, error));
    return take_meshes(store, view, frame, oldest, list, allocations, error);
}
