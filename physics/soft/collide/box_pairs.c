#include "physics/soft/collide/box_pairs.h"

#include "engine/core/memory.h"

#include <string.h>

enum {
    BOXES_OF_BLOCK = 8, // that a thread takes at once
    FEW = 256,          // boxes whose lists are made anew one by one, each beside all others;
    FEW_OF = 4          // and of all at most one in so many
};

static const char what[] = "boxes that meet";
static const double wider = 0.1; // of the mean side

static bool is_within(const orr_box *box, const orr_box *wide)
{
    bool within = true;
    for (int k = 0; k < 3; k++) {
        within &= box->low[k] >= wide->low[k] && box->high[k] <= wide->high[k];
    }
    return within;
}

static orr_result list_left(orr_box_pairs *p, const orr_box *box, orr_error *error)
{
    ORR_GROW(p->left, p->left_capacity, p->count, what, error);
    p->left_count = 0;
    for (int i = 0; i < p->count; i++) {
        p->left[p->left_count] = i;
        p->left_count += !is_within(&box[i], &p->wide[i]);
    }
    return ORR_OK;
}

static void widen(const orr_box_pairs *p, const orr_box *box, orr_box *wide)
{
    for (int k = 0; k < 3; k++) {
        wide->low[k] = box->low[k] - (float)p->margin;
        wide->high[k] = box->high[k] + (float)p->margin;
    }
}

// Where a number is in a list, or belongs.
static int find(const orr_box_list *list, int32_t number)
{
    int at = list->count;
    while (at > 0 && list->item[at - 1] >= number) {
        at--;
    }
    return at;
}

static orr_result insert(orr_box_list *list, int32_t number, orr_error *error)
{
    const int at = find(list, number);
    ORR_GROW(list->item, list->capacity, list->count + 1, what, error);
    memmove(list->item + at + 1, list->item + at, (size_t)(list->count - at) * sizeof *list->item);
    list->item[at] = number;
    list->count++;
    return ORR_OK;
}

static void drop(orr_box_list *list, int32_t number)
{
    const int at = find(list, number);
    list->count--;
    memmove(list->item + at, list->item + at + 1, (size_t)(list->count - at) * sizeof *list->item);
}

// Each of two that meet is in the list of the other.
static orr_result list_anew(orr_box_pairs *p, const orr_box *box, int32_t i, orr_error *error)
{
    orr_box_list *own = &p->list[i];
    for (int k = 0; k < own->count; k++) {
        if (own->item[k] != i) {
            drop(&p->list[own->item[k]], i);
        }
    }
    own->count = 0;
    widen(p, &box[i], &p->wide[i]);
    for (int32_t k = 0; k < p->count; k++) {
        if (orr_boxes_meet(&p->wide[i], &p->wide[k])) {
            ORR_TRY(insert(own, k, error));
            if (k != i) {
                ORR_TRY(insert(&p->list[k], i, error));
            }
        }
    }
    return ORR_OK;
}

static orr_result list_by_grid(const orr_box_pairs *p, int i)
{
    orr_box_walk walk = orr_box_grid_meeting(&p->grid, &p->wide[i]);
    p->list[i].count = 0;
    for (int32_t k; (k = orr_box_grid_next(&walk)) >= 0;) {
        ORR_TRY(insert(&p->list[i], k, NULL));
    }
    return ORR_OK;
}

static void list_block(void *context, int block, int worker)
{
    (void)worker;
    const orr_box_pairs *p = context;
    p->failed[block] = false;
    for (int i = block * BOXES_OF_BLOCK; i < (block + 1) * BOXES_OF_BLOCK && i < p->count; i++) {
        p->failed[block] |= list_by_grid(p, i) != ORR_OK;
    }
}

static orr_result list_all(orr_box_pairs *p, const orr_box *box, int count, orr_jobs *jobs, orr_error *error)
{
    const int blocks = orr_blocks(count, BOXES_OF_BLOCK);
    const double side = orr_box_mean_side(box, count);
    ORR_GROW(p->wide, p->wide_capacity, count, what, error);
    ORR_GROW(p->list, p->list_capacity, count, what, error);
    ORR_GROW(p->failed, p->failed_capacity, blocks, what, error);
    for (; p->lists < count; p->lists++) {
        p->list[p->lists] = (orr_box_list){.item = NULL};
    }
    p->margin = wider * side;
    for (int i = 0; i < count; i++) {
        widen(p, &box[i], &p->wide[i]);
    }
    ORR_TRY(orr_box_grid_build(&p->grid, p->wide, count, side + 2.0 * p->margin, error));
    p->count = count;
    if (jobs && blocks > 1) {
        orr_jobs_for(jobs, blocks, list_block, p);
    } else {
        for (int i = 0; i < blocks; i++) {
            list_block(p, i, 0);
        }
    }
    for (int i = 0; i < blocks; i++) {
        if (p->failed[i]) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", what);
        }
    }
    return ORR_OK;
}

static orr_result update(orr_box_pairs *p, const orr_box *box, int count, orr_jobs *jobs, orr_error *error)
{
    if (p->count == count) {
        ORR_TRY(list_left(p, box, error));
    }
    if (p->count != count || p->left_count > FEW || p->left_count * FEW_OF > count) {
        return list_all(p, box, count, jobs, error);
    }
    for (int i = 0; i < p->left_count; i++) {
        ORR_TRY(list_anew(p, box, p->left[i], error));
    }
    return ORR_OK;
}

orr_result orr_box_pairs_update(orr_box_pairs *p, const orr_box *box, int count, orr_jobs *jobs,
                                orr_error *error)
{
    const orr_result result = update(p, box, count, jobs, error);
    p->count = result == ORR_OK ? count : 0; // lists that are not whole are made anew
    return result;
}

void orr_box_pairs_clear(orr_box_pairs *p)
{
    for (int i = 0; i < p->lists; i++) {
        orr_free(p->list[i].item);
    }
    orr_free(p->list);
    orr_free(p->wide);
    orr_free(p->left);
    orr_free(p->failed);
    orr_box_grid_clear(&p->grid);
}
