#include "render/vulkan/store.h"

#include "engine/core/memory.h"

orr_result orr_vulkan_store_create(orr_vk *vk, orr_vulkan_store *store, orr_error *error)
{
    *store = (orr_vulkan_store){0};
    return orr_vulkan_upload_create(vk, &store->upload, error);
}

static void destroy_item(orr_vulkan_store *store, int index)
{
    orr_vulkan_stored *item = &store->items[index];
    orr_vulkan_cloud_destroy(store->upload.vk, item->cloud);
    orr_vulkan_mesh_destroy(store->upload.vk, item->mesh);
    *item = store->items[--store->count];
}

void orr_vulkan_store_destroy(orr_vulkan_store *store)
{
    while (store->count > 0) {
        destroy_item(store, store->count - 1);
    }
    orr_free(store->items);
    if (store->upload.vk) {
        orr_vulkan_samplers_destroy(store->upload.vk, &store->samplers);
    }
    orr_vulkan_upload_destroy(&store->upload);
}

static orr_vulkan_stored *find(const orr_vulkan_store *store, uint64_t key)
{
    for (int i = 0; i < store->count; i++) {
        if (store->items[i].key == key) {
            return &store->items[i];
        }
    }
    return NULL;
}

bool orr_vulkan_store_has(const orr_vulkan_store *store, uint64_t key)
{
    return find(store, key) != NULL;
}

void orr_vulkan_store_forget(orr_vulkan_store *store, uint64_t key)
{
    orr_vulkan_stored *item = find(store, key);
    if (item) {
        destroy_item(store, (int)(item - store->items));
    }
}

// Frees the least recently used; false when everything is in use.
static bool forget_oldest(orr_vulkan_store *store, uint64_t oldest_frame)
{
    int oldest = -1;
    for (int i = 0; i < store->count; i++) {
        uint64_t used = store->items[i].last_frame;
        if (used < oldest_frame && (oldest < 0 || used < store->items[oldest].last_frame)) {
            oldest = i;
        }
    }
    if (oldest >= 0) {
        destroy_item(store, oldest);
    }
    return oldest >= 0;
}

static orr_result upload(orr_vulkan_store *store, const orr_draw_splats *splats, const orr_draw_mesh *mesh,
                         orr_vulkan_stored *item, orr_error *error)
{
    return splats ? orr_vulkan_cloud_create(&store->upload, splats, &item->cloud, error)
                  : orr_vulkan_mesh_create(&store->upload, &store->samplers, mesh->mesh, &item->mesh, error);
}

orr_result orr_vulkan_store_take(orr_vulkan_store *store, const orr_draw_splats *splats,
                                 const orr_draw_mesh *mesh, uint64_t frame, uint64_t oldest_frame,
                                 const orr_vulkan_stored **out, orr_error *error)
{
    uint64_t key = splats ? splats->key : mesh->key;
    orr_vulkan_stored *found = find(store, key);
    if (!found) {
        ORR_GROW(store->items, store->capacity, store->count + 1, "uploaded clouds and meshes", error);
        orr_vulkan_stored item = {.key = key};
        orr_result result;
        do {
            result = upload(store, splats, mesh, &item, error);
        } while (result == ORR_ERROR_MEMORY && forget_oldest(store, oldest_frame));
        ORR_TRY(result);
        found = &store->items[store->count++];
        *found = item;
        store->uploads++;
    }
    found->last_frame = frame;
    assert(splats ? found->cloud != NULL : found->mesh != NULL);
    *out = found;
    return ORR_OK;
}
