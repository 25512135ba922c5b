#include "render/cuda/environments.h"

static bool are_there(const orr_cuda_environments *e, const orr_draw_list *list)
{
    const uint64_t self_key = list->self_shadow ? list->self_shadow->key : 0;
    bool same = e->count == list->environment_count && e->self_key == self_key;
    for (int i = 0; i < list->environment_count && same; i++) {
        same = e->keys[i] == list->environments[i].key;
    }
    return same;
}

orr_result orr_cuda_environments_take(orr_cuda *cuda, orr_cuda_environments *e, const orr_draw_list *list,
                                      orr_error *error)
{
    const orr_self_shadow *self = list->self_shadow;
    size_t count = self ? (size_t)self->texels : 0;
    if (are_there(e, list)) {
        return ORR_OK;
    }
    e->count = 0;
    e->self_key = 0;
    e->self_depths = NULL;
    for (int i = 0; i < list->environment_count; i++) {
        count += (size_t)list->environments[i].map->texel_count;
    }
    ORR_TRY(orr_cuda_reserve(cuda, &e->texels, count, sizeof(uint32_t), error));
    uint32_t *to = e->texels.memory;
    for (int i = 0; i < list->environment_count; i++) {
        const orr_environment *map = list->environments[i].map;
        ORR_CUDA_TRY(cudaMemcpyAsync(to, map->texels, (size_t)map->texel_count * sizeof *to,
                                     cudaMemcpyHostToDevice, cuda->stream));
        to += map->texel_count;
        e->keys[i] = list->environments[i].key;
    }
    if (self) {
        ORR_CUDA_TRY(cudaMemcpyAsync(to, self->depths, (size_t)self->texels * sizeof *to,
                                     cudaMemcpyHostToDevice, cuda->stream));
        e->self_depths = (const float *)to;
        e->self_key = self->key;
    }
    e->count = list->environment_count;
    return ORR_OK;
}

void orr_cuda_environments_release(orr_cuda_environments *e)
{
    orr_cuda_release(&e->texels);
    *e = (orr_cuda_environments){0};
}
