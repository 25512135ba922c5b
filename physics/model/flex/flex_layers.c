// Which elements of a soft body touch: the outer layers.
#include "physics/model/compile.h"

#include "engine/core/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct element_face {
    int32_t vertex[3], of; // ascending; of: 4 x element + the corner apart from it
} element_face;

static void put_face(const int32_t *corner, int apart, int element, element_face *face)
{
    int count = 0;
    face->of = 4 * element + apart;
    for (int i = 0; i < 4; i++) {
        int at = count;
        if (i == apart) {
            continue;
        }
        for (; at > 0 && face->vertex[at - 1] > corner[i]; at--) {
            face->vertex[at] = face->vertex[at - 1];
        }
        face->vertex[at] = corner[i];
        count++;
    }
}

static int compare_faces(const void *one, const void *two)
{
    const element_face *a = one, *b = two;
    for (int k = 0; k < 3; k++) {
        if (a->vertex[k] != b->vertex[k]) {
            return a->vertex[k] < b->vertex[k] ? -1 : 1;
        }
    }
    return a->of < b->of ? -1 : 1;
}

// behind: elements x 4, the element behind each face; -1: none.
static void find_neighbours(element_face *face, int faces, int32_t *behind)
{
    qsort(face, (size_t)faces, sizeof *face, compare_faces);
    for (int i = 0; i < faces; i++) {
        behind[i] = -1;
    }
    for (int i = 0; i + 1 < faces; i++) {
        if (memcmp(face[i].vertex, face[i + 1].vertex, sizeof face[i].vertex) == 0) {
            behind[face[i].of] = face[i + 1].of / 4;
            behind[face[i + 1].of] = face[i].of / 4;
        }
    }
}

// The elements of the next layer are marked 2, then 1. Returns how many.
static int peel(int elements, const int32_t *behind, uint8_t *active)
{
    int found = 0;
    for (int i = 0; i < 4 * elements; i++) {
        const bool outside = behind[i] < 0 || active[behind[i]] == 1;
        if (outside && active[i / 4] == 0) {
            active[i / 4] = 2;
            found++;
        }
    }
    for (int i = 0; i < elements; i++) {
        active[i] = active[i] != 0;
    }
    return found;
}

orr_result flex_active_elements(const spec_flex *flex, uint8_t *active, int *count, orr_error *error)
{
    const int elements = flex->elements;
    element_face *face;
    int32_t *behind;
    *count = elements;
    for (int i = 0; i < elements; i++) {
        active[i] = flex->dim < 3;
    }
    if (flex->dim < 3) {
        return ORR_OK;
    }
    ORR_ALLOC(face, 4 * (int64_t)elements, "faces of a soft body", error);
    behind = orr_alloc(4 * (size_t)elements, sizeof *behind);
    if (!behind) {
        orr_free(face);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: faces of a soft body");
    }
    for (int i = 0; i < 4 * elements; i++) {
        put_face(flex->element + 4 * (ptrdiff_t)(i / 4), i % 4, i / 4, &face[i]);
    }
    find_neighbours(face, 4 * elements, behind);
    *count = 0;
    for (int layer = 0, found = 1; layer < flex->touch.layers && found > 0; layer++) {
        found = peel(elements, behind, active);
        *count += found;
    }
    orr_free(face);
    orr_free(behind);
    return ORR_OK;
}
