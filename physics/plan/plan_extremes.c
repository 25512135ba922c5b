// Which points of a set can be the farthest along a direction, square by square of a cube of directions.
#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "physics/plan/plan.h"

#include <math.h>

// Candidates of the squares of one subdivision of the cube.
typedef struct square_list {
    int32_t *range; // of each square: its first candidate and the one behind its last
    int32_t *candidate;
    int32_t count, capacity;
} square_list;

enum { CORNERS = 4, RIVALS = CORNERS + 1 };

// The corners of a square, and its middle.
static void find_corners(int square, int cells, double corner[RIVALS][3])
{
    int axis = square / (cells * cells) / 2;
    double across[2] = {square / cells % cells, square % cells}, step = 2.0 / cells;
    for (int k = 0; k < RIVALS; k++) {
        double u = k == CORNERS ? 0.5 : k / 2, v = k == CORNERS ? 0.5 : k % 2;
        corner[k][axis] = square / (cells * cells) % 2 ? -1.0 : 1.0;
        corner[k][(axis + 1) % 3] = (across[0] + u) * step - 1.0;
        corner[k][(axis + 2) % 3] = (across[1] + v) * step - 1.0;
    }
}

static orr_result append(square_list *list, int32_t candidate, orr_error *error)
{
    ORR_GROW(list->candidate, list->capacity, list->count + 1, "directions of a hull", error);
    list->candidate[list->count++] = candidate;
    return ORR_OK;
}

// Appends those of `from` that are farthest somewhere in a square, and few others: along a direction, extents
// are linear over a square, so that a point that is below another one at all corners is so everywhere.
static orr_result filter(const double *point, const int32_t *from, int count, int square, int cells,
                         double slack, square_list *to, orr_error *error)
{
    double corner[RIVALS][3], extent[RIVALS][CORNERS];
    find_corners(square, cells, corner);
    for (int k = 0; k < RIVALS; k++) {
        double most = -INFINITY;
        int rival = from[0];
        for (int i = 0; i < count; i++) {
            double along = vec3_dot(point + 3 * from[i], corner[k]);
            rival = along > most ? from[i] : rival;
            most = along > most ? along : most;
        }
        for (int c = 0; c < CORNERS; c++) {
            extent[k][c] = vec3_dot(point + 3 * rival, corner[c]) - slack;
        }
    }
    for (int i = 0; i < count; i++) {
        double along[CORNERS];
        for (int c = 0; c < CORNERS; c++) {
            along[c] = vec3_dot(point + 3 * from[i], corner[c]);
        }
        bool below = false;
        for (int k = 0; k < RIVALS && !below; k++) {
            below = along[0] < extent[k][0] && along[1] < extent[k][1] && along[2] < extent[k][2] &&
                    along[3] < extent[k][3];
        }
        if (!below) {
            ORR_TRY(append(to, from[i], error));
        }
    }
    return ORR_OK;
}

static int squares(int cells)
{
    return 6 * cells * cells;
}

// Divides each square of `from`, whose cube has half the cells.
static orr_result divide(const double *point, const square_list *from, int cells, double slack,
                         square_list *to, orr_error *error)
{
    ORR_ALLOC(to->range, 2 * squares(cells), "directions of a hull", error);
    for (int square = 0; square < squares(cells); square++) {
        int side = square / (cells * cells), u = square / cells % cells, v = square % cells, half = cells / 2;
        const int32_t *range = from->range + 2 * ((side * half + u / 2) * half + v / 2);
        to->range[2 * square] = to->count;
        ORR_TRY(
            filter(point, from->candidate + range[0], range[1] - range[0], square, cells, slack, to, error));
        to->range[2 * square + 1] = to->count;
    }
    return ORR_OK;
}

static void release(square_list *list)
{
    orr_free(list->range);
    orr_free(list->candidate);
    *list = (square_list){0};
}

static orr_result first_squares(int count, square_list *list, orr_error *error)
{
    ORR_ALLOC(list->range, 2 * squares(1), "directions of a hull", error);
    for (int square = 0; square < squares(1); square++) {
        list->range[2 * square] = 0;
        list->range[2 * square + 1] = count;
    }
    for (int i = 0; i < count; i++) {
        ORR_TRY(append(list, i, error));
    }
    return ORR_OK;
}

static orr_result fill_blocks(const double *point, orr_extremes *extremes, orr_error *error)
{
    int count = squares(extremes->cells);
    ORR_ALLOC(extremes->block, (int64_t)count + 1, "directions of a hull", error);
    extremes->block[0] = 0;
    for (int square = 0; square < count; square++) {
        int candidates = extremes->range[2 * square + 1] - extremes->range[2 * square];
        extremes->block[square + 1] =
            extremes->block[square] + (candidates + ORR_EXTREME_BLOCK - 1) / ORR_EXTREME_BLOCK;
    }
    int64_t all = ORR_EXTREME_BLOCK * (int64_t)extremes->block[count];
    ORR_ALLOC(extremes->number, all, "directions of a hull", error);
    ORR_ALLOC(extremes->at, 3 * all, "directions of a hull", error);
    for (int square = 0; square < count; square++) {
        int last = extremes->range[2 * square + 1] - 1, places = extremes->block[square + 1];
        places = (places - extremes->block[square]) * ORR_EXTREME_BLOCK;
        for (int k = 0; k < places; k++) {
            int from = extremes->range[2 * square] + k,
                block = extremes->block[square] + k / ORR_EXTREME_BLOCK;
            int32_t number = extremes->candidate[from < last ? from : last];
            const double *p = point + 3 * (ptrdiff_t)number;
            float *to = extremes->at + 3 * ORR_EXTREME_BLOCK * (ptrdiff_t)block + k % ORR_EXTREME_BLOCK;
            extremes->number[ORR_EXTREME_BLOCK * (ptrdiff_t)block + k % ORR_EXTREME_BLOCK] = number;
            for (int axis = 0; axis < 3; axis++) {
                to[axis * ORR_EXTREME_BLOCK] = (float)p[axis];
            }
        }
    }
    return ORR_OK;
}

orr_result orr_extremes_find(const double *point, int count, orr_extremes *extremes, orr_error *error)
{
    double size = 0.0;
    for (int i = 0; i < 3 * count; i++) {
        size = fmax(size, fabs(point[i]));
    }
    square_list list = {0};
    orr_result result = first_squares(count, &list, error);
    int cells = 1;
    while (result == ORR_OK && cells < ORR_MOST_CELLS && (cells < 2 || squares(cells) < count)) {
        square_list finer = {0};
        cells *= 2;
        result = divide(point, &list, cells, 1e-9 * size, &finer, error);
        release(&list);
        list = finer;
    }
    *extremes = (orr_extremes){cells, list.range, list.candidate, NULL, NULL, NULL};
    if (result == ORR_OK) {
        result = fill_blocks(point, extremes, error);
    }
    if (result != ORR_OK) {
        orr_extremes_destroy(extremes);
    }
    return result;
}

void orr_extremes_destroy(orr_extremes *extremes)
{
    orr_free(extremes->range);
    orr_free(extremes->candidate);
    orr_free(extremes->block);
    orr_free(extremes->number);
    orr_free(extremes->at);
    *extremes = (orr_extremes){0};
}
