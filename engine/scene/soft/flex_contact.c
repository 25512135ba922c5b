#include "engine/scene/soft/flex_contact.h"

#include "engine/core/memory.h"

#include <stdlib.h>
#include <string.h>

static const char what[] = "the contacts of a soft body";

static int by_element(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (x[3] > y[3]) - (x[3] < y[3]);
}

static orr_result list_facets(const orr_soft_layer *soft, orr_flex_contact *c, orr_error *error)
{
    int triangles;
    const int32_t *triangle = orr_soft_surface(soft->model, &triangles);
    const int32_t *element = orr_soft_surface_elements(soft->model), *edge = soft->cage->edge;
    ORR_ALLOC(c->facet, 4 * ((size_t)triangles + (size_t)soft->cage->edges), what, error);
    for (int i = 0; i < triangles; i++, c->facets++) {
        memcpy(c->facet + 4 * (ptrdiff_t)c->facets, triangle + 3 * (ptrdiff_t)i, 3 * sizeof *triangle);
        c->facet[4 * (ptrdiff_t)c->facets + 3] = element[i];
    }
    for (int i = 0; i < soft->cage->edges; i++, c->facets++) {
        const int32_t facet[4] = {edge[2 * i], edge[2 * i + 1], edge[2 * i + 1], i};
        memcpy(c->facet + 4 * (ptrdiff_t)c->facets, facet, sizeof facet);
    }
    qsort(c->facet, (size_t)c->facets, 4 * sizeof *c->facet, by_element);
    return ORR_OK;
}

orr_result orr_flex_contact_create(const orr_model *m, int flex, orr_soft_layer *soft, orr_error *error)
{
    orr_flex_contact *c = soft->contact = orr_alloc_zero(1, sizeof *c);
    if (!c) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", what);
    }
    c->contype = m->flex_contype[flex], c->conaffinity = m->flex_conaffinity[flex];
    c->with_itself = m->flex_selfcollide[flex] != 0;
    c->side = orr_contact_side_of_flex(m, flex);
    memcpy(c->solref, c->side.solref, sizeof c->solref);
    memcpy(c->solimp, c->side.solimp, sizeof c->solimp);
    memcpy(c->friction, c->side.friction, sizeof c->friction);
    c->side.solref = c->solref, c->side.solimp = c->solimp, c->side.friction = c->friction;
    return list_facets(soft, c, error);
}
