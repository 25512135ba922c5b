// Pairs of boxes that meet, from one search to the next; private to this folder.
#pragma once

#include "engine/core/jobs.h"
#include "physics/soft/collide/box_grid.h"

typedef struct orr_box_list { // those that meet a box, in ascending order
    int32_t *item;
    int count, capacity;
} orr_box_list;

// Lists are made for boxes that are wider on all sides, and hold while each box is within its wider one.
// Those of a few that have left theirs are made anew, or the lists of all.
typedef struct orr_box_pairs {
    orr_box_grid grid;
    orr_box *wide; // count
    int count, wide_capacity;
    orr_box_list *list; // lists, of which `count` are in use
    int lists, list_capacity;
    int32_t *left; // left_count: those that have left
    int left_count, left_capacity;
    double margin;   // m
    uint8_t *failed; // of each block of boxes: there was no memory
    int failed_capacity;
} orr_box_pairs;

// Brings the lists up to date. jobs: NULL: the calling thread works alone.
orr_result orr_box_pairs_update(orr_box_pairs *pairs, const orr_box *box, int count, orr_jobs *jobs,
                                orr_error *error);
// pairs->list[i]: those that may meet box i, itself one of them: each that meets it, and some that do not.
void orr_box_pairs_clear(orr_box_pairs *pairs);
