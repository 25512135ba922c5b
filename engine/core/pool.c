#include "engine/core/pool.h"

#include "engine/core/memory.h"

#include <string.h>

static orr_result grow(orr_pool *pool, orr_error *error)
{
    uint32_t capacity = pool->capacity ? 2 * pool->capacity : 16;
    uint32_t *generations = orr_alloc(capacity, sizeof *generations);
    uint32_t *free_slots = orr_alloc(capacity, sizeof *free_slots);
    if (!generations || !free_slots) {
        orr_free(generations);
        orr_free(free_slots);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %u ids", capacity);
    }
    if (pool->capacity) {
        memcpy(generations, pool->generations, pool->capacity * sizeof *generations);
    }
    for (uint32_t slot = pool->capacity; slot < capacity; slot++) {
        generations[slot] = pool->first_generation;
    }
    // pushed from high to low, so that slots are handed out in ascending order
    uint32_t free_count = 0;
    for (uint32_t slot = capacity; slot > pool->capacity; slot--) {
        free_slots[free_count++] = slot - 1;
    }
    orr_free(pool->generations);
    orr_free(pool->free_slots);
    pool->generations = generations;
    pool->free_slots = free_slots;
    pool->capacity = capacity;
    pool->free_count = free_count;
    return ORR_OK;
}

orr_result orr_pool_take(orr_pool *pool, orr_pool_id *id, orr_error *error)
{
    if (pool->free_count == 0) {
        ORR_TRY(grow(pool, error));
    }
    uint32_t slot = pool->free_slots[--pool->free_count];
    pool->generations[slot]++;
    pool->count++;
    *id = (orr_pool_id){slot + 1, pool->generations[slot]};
    return ORR_OK;
}

void orr_pool_give(orr_pool *pool, orr_pool_id id)
{
    assert(orr_pool_live(pool, id));
    pool->generations[id.slot - 1]++;
    pool->free_slots[pool->free_count++] = id.slot - 1;
    pool->count--;
}

bool orr_pool_live(const orr_pool *pool, orr_pool_id id)
{
    return id.slot >= 1 && id.slot <= pool->capacity && (id.generation & 1) &&
           pool->generations[id.slot - 1] == id.generation;
}

void orr_pool_destroy(orr_pool *pool)
{
    orr_free(pool->generations);
    orr_free(pool->free_slots);
    *pool = (orr_pool){0};
}
