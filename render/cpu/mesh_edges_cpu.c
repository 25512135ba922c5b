// Edges of opaque meshes (edge_formula.h): which pixels of a tile have one, and what their samples show.
// Compiled once per instruction set.
#include "engine/core/isa.h"
#include "render/cpu/mesh_shade_list_cpu.h"
#include "render/cpu/rays/frost_filter.h"
#include "render/cpu/rays/rays_formula.h"
#include "render/edge_formula.h"

#include <math.h>

// ---- mark ----

// What lanes of pixels show.
typedef struct seen {
    sint record;
    real3 colour;
    real depth;
} seen;

// The pixels of a picture; columns are kept within it.
FN sint pixel_number(const mesh_raster *raster, sint column, int row)
{
    const int width = raster->lens.width;
    column = sel_int(column < I(0), I(0), sel_int(column < I(width), column, I(width - 1)));
    return column + I(row * width);
}

// The records at a row of pixels from column x on. The memory has pixels before the first and after the last.
FN sint records_at(const mesh_raster *raster, int x, int row)
{
    return sint_load(raster->nearest + (ptrdiff_t)row * raster->lens.width + x);
}

// What their rays meet, likewise; 0: they have none; below -1: of frosted glass, of which surface.
FN sint met_at(const mesh_raster *raster, int x, int row)
{
    return raster->met ? sint_load(raster->met + (ptrdiff_t)row * raster->lens.width + x) : I(0);
}

FN seen seen_at(const mesh_raster *raster, int x, int row)
{
    const int width = raster->lens.width;
    const ptrdiff_t plane = (ptrdiff_t)width * raster->lens.height, at = (ptrdiff_t)row * width + x;
    const float *rgb = raster->picture.rgb;
    seen s = {.record = records_at(raster, x, row)};
    if (x >= 0 && x + ORR_LANES <= width) {
        s.colour =
            make_real3(real_load(rgb + at), real_load(rgb + plane + at), real_load(rgb + 2 * plane + at));
        s.depth = real_load(raster->picture.depth + at);
        return s;
    }
    const sint number = pixel_number(raster, lane_index() + I(x), row);
    s.colour = make_real3(real_gather(rgb, number), real_gather(rgb + plane, number),
                          real_gather(rgb + 2 * plane, number));
    s.depth = real_gather(raster->picture.depth, number);
    return s;
}

// Pixels from (x, row) on that have an edge towards one of their four neighbours; rays: those that have one
// in what their rays meet.
FN mask edges_at(const mesh_raster *raster, int x, int row, mask *rays)
{
    *rays = I(0);
    const int width = raster->lens.width, height = raster->lens.height;
    const int above = row > 0 ? row - 1 : row, below = row + 1 < height ? row + 1 : row;
    const sint column = lane_index() + I(x), own = records_at(raster, x, row);
    const mask differ[4] = {and_(records_at(raster, x - 1, row) != own, column > I(0)),
                            and_(records_at(raster, x + 1, row) != own, column < I(width - 1)),
                            records_at(raster, x, above) != own, records_at(raster, x, below) != own};
    const mask inside = column < I(width);
    const mask has_near[4] = {column > I(0), column < I(width - 1), I(-1), I(-1)};
    const sint met = met_at(raster, x, row);
    if (!any(inside & (differ[0] | differ[1] | differ[2] | differ[3] | (met != I(0))))) {
        return I(0);
    }
    const sint met_near[4] = {met_at(raster, x - 1, row), met_at(raster, x + 1, row),
                              met_at(raster, x, above), met_at(raster, x, below)};
    const seen here = seen_at(raster, x, row);
    const seen near[4] = {seen_at(raster, x - 1, row), seen_at(raster, x + 1, row), seen_at(raster, x, above),
                          seen_at(raster, x, below)};
    mask edge = I(0);
    for (int k = 0; k < 4; k++) {
        const mask frost = (met < I(-1)) & (met == met_near[k]); // is smooth: it has been filtered
        edge |= differ[k] & ~frost & edge_between(here.colour, near[k].colour, here.depth, near[k].depth);
        *rays |= (met > I(0)) & (met_near[k] > I(0)) & has_near[k] & inside &
                 rays_edge(met == met_near[k], here.colour, near[k].colour);
    }
    return (inside & edge) | *rays;
}

static void mark(const mesh_raster *raster, int tile)
{
    const int tile_x = tile % raster->columns * MESH_TILE, tile_y = tile / raster->columns * MESH_TILE;
    for (int y = tile_y; y < tile_y + MESH_TILE && y < raster->lens.height; y++) {
        uint64_t bits = 0, ray_bits = 0;
        for (int x = 0; x < MESH_TILE && tile_x + x < raster->lens.width; x += ORR_LANES) {
            mask rays;
            bits |= (uint64_t)mask_bits(edges_at(raster, tile_x + x, y, &rays)) << x;
            ray_bits |= (uint64_t)mask_bits(rays) << x;
        }
        raster->edge_bits[y * raster->columns + tile % raster->columns] = bits;
        if (raster->ray_bits) {
            raster->ray_bits[y * raster->columns + tile % raster->columns] = ray_bits;
        }
    }
}

// ---- samples ----

// The words of a tile's rows; 0 beyond the picture.
static uint64_t word_of(const mesh_raster *raster, int tile, int row)
{
    const int y = tile / raster->columns * MESH_TILE + row;
    return y < raster->lens.height ? raster->edge_bits[y * raster->columns + tile % raster->columns] : 0;
}

// Numbers the tile's pixels with edges; returns how many.
static int begin_samples(const mesh_raster *raster, int tile, mesh_edges *edges)
{
    int count = 0;
    for (int row = 0; row < MESH_TILE; row++) {
        edges->rows[row] = word_of(raster, tile, row);
        edges->row_first[row] = count;
        for (uint64_t bits = edges->rows[row]; bits; bits &= bits - 1, count++) {
            edges->column[count] = __builtin_ctzll(bits);
            edges->row[count] = row;
            for (int s = 0; s < EDGE_SAMPLES; s++) {
                edges->sample_column[EDGE_SAMPLES * count + s] = edges->column[count];
            }
        }
    }
    const real farthest = R(mesh_farthest(&raster->lens));
    for (int i = 0; i < EDGE_SAMPLES * count; i += ORR_LANES) {
        real_store(edges->nearness + i, farthest);
        sint_store(edges->record + i, I(-1));
    }
    for (int i = count; i < count + ORR_LANES; i++) {
        edges->column[i] = edges->row[i] = 0;
    }
    return count;
}

FN float sample_x(int sample)
{
    return (float)MESH_SAMPLE_X(sample) / MESH_SUBPIXELS;
}

FN float sample_y(int sample)
{
    return (float)MESH_SAMPLE_Y(sample) / MESH_SUBPIXELS;
}

// Which of the samples of pixels of a row are not holes. Not inlined: the loop below needs the registers.
static __attribute__((noinline)) mask solid_samples(const mesh_raster *raster, const mesh_record *record,
                                                    sint column, int row)
{
    float x[ORR_LANES], y[ORR_LANES];
    for (int i = 0; i < ORR_LANES; i++) {
        x[i] = sample_x(i % EDGE_SAMPLES);
        y[i] = (float)row + sample_y(i % EDGE_SAMPLES);
    }
    return solid_at(raster, &raster->surfaces[record->surface], I((int32_t)record->triangle),
                    to_real(column) + real_load(x), real_load(y));
}

// A triangle over the samples of a tile: lanes are the samples of neighbouring pixels of a row.
typedef struct sample_span {
    sint start[3], across[3], down[3]; // of its edges
    real nearness;                     // at the samples of the tile's first pixel
    real nearness_across, nearness_down, nearest, farthest;
    bool backdrop, holes;
} sample_span;

// Of four numbers, a byte each, those of the lanes' samples.
FN sint of_samples(uint32_t bytes)
{
    return (I((int32_t)bytes) >> ((lane_index() & I(EDGE_SAMPLES - 1)) * I(8))) & I(255);
}

// Is the triangle so small, and so near to a tile that it reaches, that its edges there fit in 31 bits?
FN bool is_small(const mesh_record *record)
{
    const int32_t most = MESH_TILE * MESH_SUBPIXELS;
    return mesh_highest(record->x) - mesh_lowest(record->x) <= most &&
           mesh_highest(record->y) - mesh_lowest(record->y) <= most;
}

// mesh_edge_of_samples of a small triangle, for all samples at once.
FN sint start_of_small(const mesh_record *record, int k, int tile_x, int tile_y)
{
    const int next = (k + 1) % 3;
    const int32_t across = record->y[k] - record->y[next], down = record->x[next] - record->x[k];
    const sint x = I(tile_x * MESH_SUBPIXELS - record->x[k]) + of_samples(MESH_SAMPLES_X),
               y = I(tile_y * MESH_SUBPIXELS - record->y[k]) + of_samples(MESH_SAMPLES_Y);
    return (I(down) * y + I(across) * x - I(!(across > 0 || (across == 0 && down > 0)))) >> 8;
}

FN sint start_of_any(const mesh_record *record, int k, int tile_x, int tile_y)
{
    int32_t start[ORR_LANES];
    for (int i = 0; i < ORR_LANES; i++) {
        start[i] = i < EDGE_SAMPLES ? mesh_edge_of_samples(record, k, tile_x, tile_y, i).start
                                    : start[i % EDGE_SAMPLES];
    }
    return sint_load(start);
}

static sample_span samples_over_tile(const mesh_raster *raster, const mesh_record *record, int tile_x,
                                     int tile_y)
{
    const mesh_surface *surface = &raster->surfaces[record->surface];
    sample_span span = {.nearness_across = R(record->across),
                        .nearness_down = R(record->down),
                        .nearest = R(record->nearest),
                        .farthest = R(record->farthest),
                        .backdrop = surface->backdrop,
                        .holes = surface->holes};
    const bool small = is_small(record);
    float nearness[EDGE_SAMPLES];
    for (int s = 0; s < EDGE_SAMPLES; s++) {
        nearness[s] = (float)mesh_nearness_at_sample(record, tile_x, tile_y, s);
    }
    span.nearness = real_repeat(nearness[0], nearness[1], nearness[2], nearness[3]);
    for (int k = 0; k < 3; k++) {
        const int next = (k + 1) % 3;
        span.start[k] =
            small ? start_of_small(record, k, tile_x, tile_y) : start_of_any(record, k, tile_x, tile_y);
        span.across[k] = I(record->y[k] - record->y[next]);
        span.down[k] = I(record->x[next] - record->x[k]);
    }
    return span;
}

// Draws the samples numbered first .. end, which are of one row.
static void draw_row(const mesh_raster *raster, mesh_edges *edges, const sample_span *span, int32_t id,
                     int tile_x, int tile_y, int row, int first, int end)
{
    for (int i = first; i < end; i += ORR_LANES) {
        const sint column = sint_load(edges->sample_column + i);
        sint value = I(0);
        for (int k = 0; k < 3; k++) {
            value |= span->start[k] + span->across[k] * column + span->down[k] * I(row);
        }
        real before = real_load(edges->nearness + i);
        real now = mesh_nearness(span->nearness, span->nearness_across, span->nearness_down, to_real(column),
                                 R((float)row), span->farthest, span->nearest);
        now = span->backdrop ? before : now; // it is drawn first, and everything covers it
        mask hit = lanes_below(end - i) & (value >= I(0)) & (span->backdrop ? I(-1) : (sint)(now > before));
        if (!any(hit)) {
            continue;
        }
        if (span->holes) {
            hit &= solid_samples(raster, &raster->records[id], column + I(tile_x), tile_y + row);
        }
        real_store(edges->nearness + i, sel(hit, now, before));
        sint_store(edges->record + i, sel_int(hit, I(id), sint_load(edges->record + i)));
    }
}

static void draw_samples(const mesh_raster *raster, int tile, mesh_edges *edges, int32_t id)
{
    const mesh_record *record = &raster->records[id];
    const int tile_x = tile % raster->columns * MESH_TILE, tile_y = tile / raster->columns * MESH_TILE;
    const mesh_box box = mesh_box_of(record->x, record->y, tile_x + MESH_TILE, tile_y + MESH_TILE, true);
    const int left = box.left - tile_x, right = box.right - tile_x, from = left > 0 ? left : 0;
    if (from > right) {
        return;
    }
    const uint64_t columns = (~0ull >> (MESH_TILE - 1 - (right - from))) << from, before = (1ull << from) - 1;
    sample_span span;
    bool spanned = false;
    for (int row = box.top > tile_y ? box.top - tile_y : 0; row <= box.bottom - tile_y; row++) {
        const uint64_t bits = edges->rows[row];
        if (!(bits & columns)) {
            continue;
        }
        if (!spanned) { // few triangles reach an edge
            span = samples_over_tile(raster, record, tile_x, tile_y);
            spanned = true;
        }
        const int first = edges->row_first[row] + __builtin_popcountll(bits & before);
        draw_row(raster, edges, &span, id, tile_x, tile_y, row, EDGE_SAMPLES * first,
                 EDGE_SAMPLES * (first + __builtin_popcountll(bits & columns)));
    }
}

static void draw_bin(const mesh_raster *raster, const mesh_bins *bins, int tile, mesh_edges *edges)
{
    for (uint32_t i = bins->starts[tile]; i < bins->starts[tile + 1]; i++) {
        const uint32_t id = bins->records[i];
        if (!raster->surfaces[raster->records[id].surface].blended) {
            draw_samples(raster, tile, edges, (int32_t)id);
        }
    }
}

// Has a pixel of the tile an edge in what its rays meet?
FN bool has_ray_edge(const mesh_raster *raster, int tile_x, int tile_y, int column, int row)
{
    return raster->ray_bits &&
           raster->ray_bits[(tile_y + row) * raster->columns + tile_x / MESH_TILE] >> column & 1u;
}

// Frosted glass that a pixel's sample shows has the colour of its pixel, or of one beside it that is frosted
// too, into place `to`. false: there is none.
static bool take_frost(const mesh_raster *raster, mesh_edges *edges, int32_t id, int column, int row, int to)
{
    static const int beside[5][2] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    const int width = raster->lens.width, height = raster->lens.height;
    const size_t plane = (size_t)width * (size_t)height;
    const int32_t key = orr_frost_key(raster->records[id].surface);
    for (int i = 0; i < 5 && raster->frosted; i++) {
        const int x = column + beside[i][0], y = row + beside[i][1];
        if (x < 0 || x >= width || y < 0 || y >= height) {
            continue;
        }
        const size_t at = (size_t)y * (size_t)width + (size_t)x;
        if (raster->met[at] == key) {
            for (size_t k = 0; k < 3; k++) {
                edges->rgb[k][to] = raster->frosted[k * plane + at];
            }
            return true;
        }
    }
    return false;
}

// Lists what the samples of the pixels show, each surface once: at the middle of its samples, which for all
// four is the pixel's centre. Where there is an edge in what rays meet, each sample is shaded by itself.
static void list_samples(const mesh_raster *raster, mesh_shade_list *list, mesh_edges *edges, int count,
                         int tile_x, int tile_y)
{
    for (int i = 0; i < count; i++) {
        const int32_t *id = edges->record + EDGE_SAMPLES * i;
        const bool apart = has_ray_edge(raster, tile_x, tile_y, edges->column[i], edges->row[i]);
        const float left = (float)(tile_x + edges->column[i]), top = (float)(tile_y + edges->row[i]);
        for (int s = 0; s < EDGE_SAMPLES; s++) {
            float x = 0.0f, y = 0.0f, same = 0.0f;
            int first = EDGE_SAMPLES;
            for (int t = 0; t < EDGE_SAMPLES; t++) {
                if (t == s || (id[t] == id[s] && !apart)) {
                    first = t < first ? t : first;
                    x += left + sample_x(t);
                    y += top + sample_y(t);
                    same += 1.0f;
                }
            }
            const int to = s * MESH_EDGES + i;
            if (first == s && id[s] >= 0 &&
                !take_frost(raster, edges, id[s], tile_x + edges->column[i], tile_y + edges->row[i], to)) {
                list_point(raster, list, id[s], x / same, y / same, apart ? 0.5f : 1.0f, to);
            }
        }
    }
}

// The samples of lanes of pixels.
typedef struct lane_samples {
    real depth[EDGE_SAMPLES];
    real3 colour[EDGE_SAMPLES];
} lane_samples;

// Depth and colour of the samples of the pixels numbered i .., whose surfaces are shaded.
FN lane_samples shaded_samples(const mesh_raster *raster, const mesh_edges *edges, int i, int tile_x,
                               int tile_y)
{
    const bool backdrop = raster->instance_count > 0 && raster->instances[0].backdrop;
    const mesh_view view = mesh_view_of(&raster->lens);
    const real farthest = R(mesh_farthest(&raster->lens)), none = R(0.0);
    const sint first = (lane_index() + I(i)) * I(EDGE_SAMPLES);
    sint id[EDGE_SAMPLES];
    int32_t rays[ORR_LANES];
    for (int lane = 0; lane < ORR_LANES; lane++) {
        rays[lane] =
            -(int32_t)has_ray_edge(raster, tile_x, tile_y, edges->column[i + lane], edges->row[i + lane]);
    }
    const mask apart = sint_load(rays);
    lane_samples out;
    for (int s = 0; s < EDGE_SAMPLES; s++) {
        const float *rgb = edges->rgb[0] + s * MESH_EDGES + i;
        id[s] = int_gather(edges->record + s, first);
        const real nearness = real_gather(edges->nearness + s, first);
        const mask some = id[s] >= I(0), there = backdrop ? nearness > farthest : some;
        out.colour[s] = make_real3(sel(some, real_load(rgb), none),
                                   sel(some, real_load(rgb + EDGE_SAMPLES * MESH_EDGES), none),
                                   sel(some, real_load(rgb + 2 * EDGE_SAMPLES * MESH_EDGES), none));
        for (int t = 0; t < s; t++) {
            out.colour[s] = select3((id[t] == id[s]) & ~apart, out.colour[t], out.colour[s]);
        }
        out.depth[s] = sel(there, mesh_depth(view, nearness), R(INFINITY));
    }
    return out;
}

FN void order_two(lane_samples *p, int a, int b)
{
    const mask swap = p->depth[b] < p->depth[a];
    const real depth = p->depth[a];
    const real3 colour = p->colour[a];
    p->depth[a] = sel(swap, p->depth[b], depth);
    p->depth[b] = sel(swap, depth, p->depth[b]);
    p->colour[a] = select3(swap, p->colour[b], colour);
    p->colour[b] = select3(swap, colour, p->colour[b]);
}

// From front to back.
FN void order_samples(lane_samples *p)
{
    order_two(p, 0, 1);
    order_two(p, 2, 3);
    order_two(p, 0, 2);
    order_two(p, 1, 3);
    order_two(p, 1, 2);
}

// Writes pixels numbered i .., `count` of them, and what is left of them in the picture.
static void store_samples(const mesh_raster *raster, int tile, const mesh_edges *edges, int i, int count,
                          const lane_samples *p)
{
    const int tile_x = tile % raster->columns * MESH_TILE, tile_y = tile / raster->columns * MESH_TILE;
    const size_t plane = (size_t)raster->lens.width * (size_t)raster->lens.height;
    float member[EDGE_SAMPLES][4][ORR_LANES];
    for (int s = 0; s < EDGE_SAMPLES; s++) {
        real_store(member[s][0], p->depth[s]);
        real_store(member[s][1], p->colour[s].x);
        real_store(member[s][2], p->colour[s].y);
        real_store(member[s][3], p->colour[s].z);
    }
    for (int lane = 0; lane < ORR_LANES && i + lane < count; lane++) {
        const int row = edges->row[i + lane], y = tile_y + row;
        const size_t at = (size_t)y * (size_t)raster->lens.width + (size_t)(tile_x + edges->column[i + lane]);
        const uint32_t number = raster->edge_firsts[y * raster->columns + tile % raster->columns] +
                                (uint32_t)(i + lane - edges->row_first[row]);
        orr_edge_pixel *pixel = &raster->edge_pixels[number];
        for (int s = 0; s < EDGE_SAMPLES; s++) {
            pixel->samples[s] = (orr_edge_sample){
                member[s][0][lane], {member[s][1][lane], member[s][2][lane], member[s][3][lane]}};
        }
        pixel->centre_depth = raster->picture.depth[at];
        const orr_edge_sample *last = &pixel->samples[EDGE_SAMPLES - 1];
        raster->picture.depth[at] = last->depth;
        for (int k = 0; k < 3; k++) {
            raster->picture.rgb[(size_t)k * plane + at] = last->depth < INFINITY ? 0.0f : last->rgb[k];
        }
    }
}

static void draw_samples_of_tile(const mesh_raster *raster, int tile, mesh_edges *edges,
                                 mesh_shade_list *list)
{
    const int count = begin_samples(raster, tile, edges);
    const int tile_x = tile % raster->columns * MESH_TILE, tile_y = tile / raster->columns * MESH_TILE;
    if (count == 0) {
        return;
    }
    draw_bin(raster, &raster->bins, tile, edges);
    draw_bin(raster, &raster->sliver_bins, tile, edges);
    list_samples(raster, list, edges, count, tile_x, tile_y);
    float *const planes[3] = {edges->rgb[0], edges->rgb[1], edges->rgb[2]};
    shade_listed(raster, list, planes, NULL);
    for (int i = 0; i < count; i += ORR_LANES) {
        lane_samples p = shaded_samples(raster, edges, i, tile_x, tile_y);
        order_samples(&p);
        store_samples(raster, tile, edges, i, count, &p);
    }
}

const mesh_edge_lanes ORR_ISA_NAME(orr_mesh_edge_lanes) = {mark, draw_samples_of_tile};
