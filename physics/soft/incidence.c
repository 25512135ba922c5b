// Which elements each vertex belongs to, and the colouring of vertices.
#include "engine/core/memory.h"
#include "physics/soft/model.h"

int orr_soft_corners(int kind)
{
    static const int corners[SOFT_KINDS] = {4, 3, 4, 2, 2};
    return corners[kind];
}

int orr_soft_elements(const orr_soft_model *m, int kind, const int32_t **element)
{
    const int count[SOFT_KINDS] = {m->tets, m->triangles, m->hinges, m->bends, m->edges};
    const int32_t *const elements[SOFT_KINDS] = {m->tet, m->triangle, m->hinge, m->bend, m->edge};
    *element = elements[kind];
    return count[kind];
}

orr_result orr_soft_incidence_create(const orr_soft_model *m, int kind, orr_soft_incidence *incidence,
                                     orr_error *error)
{
    const int32_t *element;
    int uses = orr_soft_elements(m, kind, &element) * orr_soft_corners(kind);
    incidence->first = orr_alloc_zero((size_t)m->vertices + 2, sizeof *incidence->first);
    incidence->use = orr_alloc((size_t)uses, sizeof *incidence->use);
    if (!incidence->first || !incidence->use) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: elements of vertices");
    }
    int32_t *next = incidence->first + 1; // becomes `first` of the next vertex as each list is filled
    for (int i = 0; i < uses; i++) {
        next[element[i] + 1]++;
    }
    for (int v = 0; v < m->vertices; v++) {
        next[v + 1] += next[v];
    }
    for (int i = 0; i < uses; i++) {
        incidence->use[next[element[i]]++] = i;
    }
    return ORR_OK;
}

void orr_soft_incidence_destroy(orr_soft_incidence *incidence)
{
    orr_free(incidence->first);
    orr_free(incidence->use);
}

// The lowest colour that no neighbour has.
static int free_colour(const orr_soft_model *m, const orr_soft_incidence *incidence, int v, int32_t *seen)
{
    for (int kind = 0; kind < SOFT_KINDS; kind++) {
        const int32_t *element;
        int corners = orr_soft_corners(kind);
        orr_soft_elements(m, kind, &element);
        for (int i = incidence[kind].first[v]; i < incidence[kind].first[v + 1]; i++) {
            const int32_t *corner = element + incidence[kind].use[i] / corners * corners;
            for (int k = 0; k < corners; k++) {
                if (m->colour[corner[k]] >= 0) {
                    seen[m->colour[corner[k]]] = v + 1;
                }
            }
        }
    }
    int colour = 0;
    while (seen[colour] == v + 1) {
        colour++;
    }
    return colour;
}

orr_result orr_soft_colour(orr_soft_model *m, orr_error *error)
{
    orr_soft_incidence incidence[SOFT_KINDS] = {{0}};
    int32_t *seen = orr_alloc_zero((size_t)m->vertices + 1, sizeof *seen); // per colour: the last vertex + 1
    orr_result result =
        seen ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: colours of vertices");
    for (int kind = 0; kind < SOFT_KINDS && result == ORR_OK; kind++) {
        result = orr_soft_incidence_create(m, kind, &incidence[kind], error);
    }
    for (int v = 0; v < m->vertices; v++) {
        m->colour[v] = -1;
    }
    for (int v = 0; v < m->vertices && result == ORR_OK; v++) {
        m->colour[v] = free_colour(m, incidence, v, seen);
        m->colours = m->colour[v] >= m->colours ? m->colour[v] + 1 : m->colours;
    }
    for (int kind = 0; kind < SOFT_KINDS; kind++) {
        orr_soft_incidence_destroy(&incidence[kind]);
    }
    orr_free(seen);
    return result;
}
