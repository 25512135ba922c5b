#include "render/splat_detail/splat_detail.h"

#include "render/splat_detail/splat_merge.h"
#include "render/splat_detail/splat_order.h"

#include <math.h>
#include <string.h>

enum { NODES_PER_JOB = 64 * ORR_PACK_BLOCK };

static const double REACH = 3.33; // standard deviations, beyond which a splat covers less than 1/255

typedef struct level_job {
    const orr_splat_pack *pack;
    const uint32_t *order;        // of level 0: index in the pack
    const orr_splat_level *below; // NULL: of level 0
    orr_splat_level *level;
    int members; // of the harmonics
    double blur; // see orr_merge
} level_job;

// index of a node's first member in an array of `members` per node
static size_t member(int64_t node, int members)
{
    return (size_t)(node / ORR_PACK_BLOCK * members) * ORR_PACK_BLOCK + (size_t)(node % ORR_PACK_BLOCK);
}

static void copy_members(const float *from, int64_t node, float *to, int64_t into, int members)
{
    for (int k = 0; k < members; k++) {
        to[member(into, members) + (size_t)k * ORR_PACK_BLOCK] =
            from[member(node, members) + (size_t)k * ORR_PACK_BLOCK];
    }
}

static void copy_splat(const level_job *j, int64_t i)
{
    const uint32_t from = j->order[i];
    copy_members(j->pack->geometry, from, j->level->geometry, i, ORR_PACK_GEOMETRY);
    copy_members(j->pack->harmonics, from, j->level->harmonics, i, j->members);
    j->level->original[i] = j->pack->original[from];
}

static orr_merge_node read_node(const orr_splat_level *level, int64_t i, double *reach)
{
    const float *g = level->geometry + member(i, ORR_PACK_GEOMETRY);
    orr_merge_node node = {.breadth = 1.0};
    for (int k = 0; k < 3; k++) {
        node.mean[k] = (double)g[k * ORR_PACK_BLOCK];
        for (int r = 0; r < 3; r++) {
            node.axes[k][r] = (double)g[(3 + 3 * k + r) * ORR_PACK_BLOCK];
        }
    }
    const double last = (double)g[12 * ORR_PACK_BLOCK];
    if (level->merged) {
        const float *m = level->merged + member(i, ORR_DETAIL_MERGED);
        node.density = last;
        node.crowd = (double)m[0];
        node.breadth = (double)m[ORR_PACK_BLOCK];
        node.opacity = (double)m[2 * ORR_PACK_BLOCK];
        *reach = (double)level->cut[member(i, ORR_DETAIL_CUT) + ORR_PACK_BLOCK];
    } else {
        node.density = node.crowd = node.opacity = last;
        *reach = REACH * orr_merge_longest(&node);
    }
    return node;
}

float orr_splat_merged_size(float detail, bool antialias)
{
    return (antialias ? 4.0f : 2.0f) * detail;
}

static double distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

static void write_node(const orr_splat_level *level, int64_t i, const orr_merge_node *node, double reach)
{
    float *g = level->geometry + member(i, ORR_PACK_GEOMETRY);
    for (int k = 0; k < 3; k++) {
        g[k * ORR_PACK_BLOCK] = (float)node->mean[k];
        for (int r = 0; r < 3; r++) {
            g[(3 + 3 * k + r) * ORR_PACK_BLOCK] = (float)node->axes[k][r];
        }
    }
    g[12 * ORR_PACK_BLOCK] = (float)node->density;
    float *cut = level->cut + member(i, ORR_DETAIL_CUT),
          *merged = level->merged + member(i, ORR_DETAIL_MERGED);
    cut[0] = (float)orr_merge_longest(node);
    cut[ORR_PACK_BLOCK] = (float)reach;
    merged[0] = (float)node->crowd;
    merged[ORR_PACK_BLOCK] = (float)node->breadth;
    merged[2 * ORR_PACK_BLOCK] = (float)node->opacity;
}

static void merge_group(const level_job *j, int64_t i)
{
    orr_merge_node nodes[ORR_DETAIL_GROUP], merged;
    double reaches[ORR_DETAIL_GROUP], shares[ORR_DETAIL_GROUP];
    const int64_t first = ORR_DETAIL_GROUP * i;
    const int count =
        (int)(j->below->count - first < ORR_DETAIL_GROUP ? j->below->count - first : ORR_DETAIL_GROUP);
    uint32_t original = UINT32_MAX;
    for (int k = 0; k < count; k++) {
        nodes[k] = read_node(j->below, first + k, &reaches[k]);
        original = j->below->original[first + k] < original ? j->below->original[first + k] : original;
    }
    orr_merge(nodes, count, j->blur, &merged, shares);
    // what is drawn of the node itself: its opacity is less than its depth
    const double depth = fmax(fmax(merged.crowd * fmax(1.0, sqrt(merged.breadth)), merged.density), 1.0);
    double reach = sqrt(2.0 * log(255.0 * depth)) * orr_merge_longest(&merged);
    for (int k = 0; k < count; k++) {
        reach = fmax(reach, distance(merged.mean, nodes[k].mean) + reaches[k]);
    }
    write_node(j->level, i, &merged, reach);
    j->level->original[i] = original;
    for (int m = 0; m < j->members; m++) {
        double sum = 0.0;
        for (int k = 0; k < count; k++) {
            sum += shares[k] *
                   (double)j->below->harmonics[member(first + k, j->members) + (size_t)m * ORR_PACK_BLOCK];
        }
        j->level->harmonics[member(i, j->members) + (size_t)m * ORR_PACK_BLOCK] = (float)sum;
    }
}

static void make_nodes(void *context, int job, int worker)
{
    (void)worker;
    const level_job *j = context;
    const int64_t first = (int64_t)job * NODES_PER_JOB;
    const int64_t end = first + NODES_PER_JOB < j->level->count ? first + NODES_PER_JOB : j->level->count;
    for (int64_t i = first; i < end; i++) {
        (j->below ? merge_group : copy_splat)(j, i);
    }
}

static orr_result level_create(orr_splat_level *level, int64_t count, int members, bool merged,
                               orr_error *error)
{
    level->count = count;
    level->blocks = (count + ORR_PACK_BLOCK - 1) / ORR_PACK_BLOCK;
    const size_t nodes = (size_t)level->blocks * ORR_PACK_BLOCK;
    level->geometry = orr_alloc_zero(nodes, ORR_PACK_GEOMETRY * sizeof(float));
    level->harmonics = orr_alloc_zero(nodes, (size_t)members * sizeof(float));
    level->original = orr_alloc_zero(nodes, sizeof(uint32_t));
    level->cut = merged ? orr_alloc_zero(nodes, ORR_DETAIL_CUT * sizeof(float)) : NULL;
    level->merged = merged ? orr_alloc_zero(nodes, ORR_DETAIL_MERGED * sizeof(float)) : NULL;
    return level->geometry && level->harmonics && level->original &&
                   (!merged || (level->cut && level->merged))
               ? ORR_OK
               : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: level of detail of %lld splats",
                          (long long)count);
}

// The order as indices in the pack.
static orr_result order_splats(orr_jobs *jobs, const orr_splat_pack *pack, uint32_t *order, orr_error *error)
{
    float *positions;
    ORR_ALLOC(positions, 3 * pack->count, "level of detail", error);
    for (int64_t i = 0; i < pack->count; i++) {
        for (int k = 0; k < 3; k++) {
            positions[3 * i + k] = pack->geometry[member(i, ORR_PACK_GEOMETRY) + (size_t)k * ORR_PACK_BLOCK];
        }
    }
    orr_splat_order(jobs, positions, pack->count, order);
    orr_free(positions);
    return ORR_OK;
}

static orr_result make(orr_jobs *jobs, const orr_splat_pack *pack, const orr_splat_detail_desc *desc,
                       uint32_t *order, orr_splat_detail *d, orr_error *error)
{
    d->sh_degree = pack->sh_degree;
    level_job job = {.pack = pack,
                     .order = order,
                     .members = 3 * (pack->sh_degree + 1) * (pack->sh_degree + 1),
                     // where a node's longest axis is just `merged_size` pixels
                     .blur = desc->antialias ? 0.0
                                             : 0.3 / ((double)desc->merged_size * (double)desc->merged_size)};
    ORR_TRY(order_splats(jobs, pack, order, error));
    int64_t count = pack->count;
    for (int i = 0; i == 0 || d->levels[i - 1].count > ORR_PACK_BLOCK; i++) {
        job.level = &d->levels[d->level_count++];
        ORR_TRY(level_create(job.level, count, job.members, i > 0, error));
        orr_jobs_for(jobs, orr_blocks(count, NODES_PER_JOB), make_nodes, &job);
        job.below = job.level;
        count = (count + ORR_DETAIL_GROUP - 1) / ORR_DETAIL_GROUP;
    }
    return ORR_OK;
}

orr_result orr_splat_detail_create(orr_jobs *jobs, const orr_splat_pack *pack,
                                   const orr_splat_detail_desc *desc, orr_splat_detail **out,
                                   orr_error *error)
{
    *out = NULL;
    orr_splat_detail *d = orr_alloc_zero(1, sizeof *d);
    uint32_t *order = orr_alloc((size_t)pack->count, sizeof *order);
    orr_result result =
        d && order ? make(jobs, pack, desc, order, d, error)
                   : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: level of detail of %lld splats",
                              (long long)pack->count);
    orr_free(order);
    if (result != ORR_OK) {
        orr_splat_detail_destroy(d);
        return result;
    }
    *out = d;
    return ORR_OK;
}

void orr_splat_detail_destroy(orr_splat_detail *d)
{
    for (int i = 0; d && i < d->level_count; i++) {
        orr_free(d->levels[i].geometry);
        orr_free(d->levels[i].harmonics);
        orr_free(d->levels[i].original);
        orr_free(d->levels[i].cut);
        orr_free(d->levels[i].merged);
    }
    orr_free(d);
}

size_t orr_splat_detail_bytes(const orr_splat_detail *d)
{
    size_t bytes = sizeof *d;
    for (int i = 0; i < d->level_count; i++) {
        const orr_splat_level *level = &d->levels[i];
        const size_t members = ORR_PACK_GEOMETRY + 3u * (size_t)((d->sh_degree + 1) * (d->sh_degree + 1)) +
                               1u + (level->cut ? ORR_DETAIL_CUT + ORR_DETAIL_MERGED : 0);
        bytes += (size_t)level->blocks * ORR_PACK_BLOCK * members * sizeof(float);
    }
    return bytes;
}

int64_t orr_splat_cut_capacity(const orr_splat_detail *d)
{
    int64_t blocks = 0;
    for (int i = 0; i < d->level_count; i++) {
        blocks += d->levels[i].blocks;
    }
    return blocks;
}
