// The rim of a mesh: sides of triangles that are not walked as often in one direction as in the other.
// Winding numbers change smoothly by the rim alone, as the magnetic field of a current along it does.
#include "engine/core/memory.h"
#include "neural/fields/mesh_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979;

// ---- sides ----

static uint64_t mix(uint64_t h) // bits of one number all over another (Vigna 2015, "splitmix64")
{
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

static uint64_t hash_position(const float p[3])
{
    uint64_t hash = 0;
    for (int k = 0; k < 3; k++) {
        float member = p[k] + 0.0f; // minus zero is the same number
        uint32_t bits;
        memcpy(&bits, &member, sizeof bits);
        hash = mix(hash + UINT64_C(0x9e3779b97f4a7c15) + bits);
    }
    return hash;
}

// The sides of a triangle, by their ends; direction 1 or -1, or 0 where the ends are one point.
static void find_sides(const float t[9], uint64_t keys[3], int directions[3])
{
    uint64_t hash[3];
    for (int corner = 0; corner < 3; corner++) {
        hash[corner] = hash_position(t + 3 * corner);
    }
    for (int corner = 0; corner < 3; corner++) {
        uint64_t a = hash[corner], b = hash[(corner + 1) % 3];
        directions[corner] = a < b ? 1 : a > b ? -1 : 0;
        keys[corner] = a < b ? mix(a + 3 * b) : mix(b + 3 * a);
    }
}

uint64_t orr_tree_sum_sides(const float t[9])
{
    uint64_t keys[3], sum = 0;
    int directions[3];
    find_sides(t, keys, directions);
    for (int corner = 0; corner < 3; corner++) {
        sum += (uint64_t)directions[corner] * keys[corner];
    }
    return sum;
}

// ---- the rim ----

// How often each side is walked; open addressing.
typedef struct side_table {
    uint64_t *keys; // 0: free
    int32_t *counts;
    uint64_t mask;
} side_table;

static int32_t *count_of_side(const side_table *table, uint64_t key)
{
    key += key == 0;
    uint64_t at = key & table->mask;
    while (table->keys[at] != 0 && table->keys[at] != key) {
        at = (at + 1) & table->mask;
    }
    table->keys[at] = key;
    return &table->counts[at];
}

static float open_length(const side_table *table, const float t[9])
{
    uint64_t keys[3];
    int directions[3];
    float length = 0.0f;
    find_sides(t, keys, directions);
    for (int corner = 0; corner < 3; corner++) {
        float times = (float)abs(*count_of_side(table, keys[corner]));
        length += times > 0.0f ? times * orr_tree_step(t + 3 * corner, t + 3 * ((corner + 1) % 3)) : 0.0f;
    }
    return length;
}

static void measure_rim(orr_mesh_distance *m, const side_table *table)
{
    for (int64_t i = 0; i < m->triangle_count; i++) {
        uint64_t keys[3];
        int directions[3];
        find_sides(m->corners[i], keys, directions);
        for (int corner = 0; corner < 3; corner++) {
            *count_of_side(table, keys[corner]) += directions[corner];
        }
    }
    for (int32_t i = m->node_count - 1; i >= 0; i--) { // children come after their node
        orr_tree_node *n = &m->nodes[i];
        float rim = n->count > 0 ? 0.0f : m->nodes[n->first].rim + m->nodes[n->first + 1].rim;
        for (int32_t t = n->first; t < n->first + n->count; t++) {
            rim += open_length(table, m->corners[t]);
        }
        n->rim = rim;
    }
}

orr_result orr_tree_find_rim(orr_mesh_distance *m, const char *name, orr_error *error)
{
    side_table table = {.mask = 1};
    while ((int64_t)table.mask < 4 * m->triangle_count) { // sides are at most three times as many
        table.mask = 2 * table.mask + 1;
    }
    table.keys = orr_alloc_zero(table.mask + 1, sizeof *table.keys);
    table.counts = orr_alloc_zero(table.mask + 1, sizeof *table.counts);
    bool made = table.keys && table.counts;
    if (made) {
        measure_rim(m, &table);
    }
    orr_free(table.keys);
    orr_free(table.counts);
    return made ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", name);
}

// By the law of Biot and Savart: a side of length l at distance d changes the number by l / (4 pi d^2) per
// length at most.
double orr_tree_variation(const orr_mesh_distance *m, const float centre[3], float reach)
{
    static const double FINE = 0.01, USELESS = 1.0;
    int32_t stack[ORR_TREE_STACK], depth = 0;
    double sum = 0.0;
    stack[depth++] = 0;
    while (depth > 0 && sum < USELESS) {
        int32_t index = stack[--depth];
        const orr_tree_node *n = &m->nodes[index];
        double rim = (double)n->rim, gap = (double)(orr_tree_step(centre, n->centre) - reach - n->radius),
               most = gap > 0.0 ? rim * (double)reach / (4.0 * PI * gap * gap) : INFINITY;
        if (!(rim > 0.0)) {
            continue;
        }
        if (most < FINE || n->count > 0) {
            sum += most;
        } else {
            stack[depth++] = n->first;
            stack[depth++] = n->first + 1;
        }
    }
    return sum;
}
