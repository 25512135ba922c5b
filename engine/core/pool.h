// Id pool: slots that are handed out, given back and reused, with a generation that makes old ids
// recognisable.
#pragma once

#include "engine/core/result.h"

typedef struct orr_pool {
    uint32_t *generations;     // per slot; odd: in use, even: free
    uint32_t *free_slots;      // stack of free slot numbers
    uint32_t first_generation; // even: of slots that were never in use
    uint32_t capacity;
    uint32_t count;      // slots in use
    uint32_t free_count; // slots on the stack
} orr_pool;

// Ids are 1-based slots with a generation; {0, 0} is never handed out.
typedef struct orr_pool_id {
    uint32_t slot;
    uint32_t generation;
} orr_pool_id;

orr_result orr_pool_take(orr_pool *pool, orr_pool_id *id, orr_error *error);
void orr_pool_give(orr_pool *pool, orr_pool_id id); // the id must be live
bool orr_pool_live(const orr_pool *pool, orr_pool_id id);
void orr_pool_destroy(orr_pool *pool);
