// The lane stages of the mesh rasteriser (see mesh_raster_stages.h), compiled once per instruction set.
#include "engine/core/isa.h"
#include "render/cpu/mesh_seen_cpu.h"
#include "render/cpu/mesh_shade_list_cpu.h"

#include <math.h>

static void linear_table(float linear[256])
{
    for (int i = 0; i < 256; i += ORR_LANES) {
        real_store(linear + i, srgb_to_linear(to_real(I(i) + lane_index()) * R(1.0 / 255.0)));
    }
}

FN void store_some(float *p, real a, int count)
{
    if (count >= ORR_LANES) {
        real_store(p, a);
        return;
    }
    float values[ORR_LANES];
    real_store(values, a);
    memcpy(p, values, (size_t)count * sizeof *values);
}

static void vertices(const mesh_raster *raster, const mesh_instance *instance, int64_t first, int64_t count)
{
    const affine to_camera = affine_of(instance->to_camera);
    const orr_mesh_vertex *from = instance->mesh->vertices + first;
    const mesh_view view = mesh_view_of(&raster->lens);
    const clip_plane clip = clip_plane_of(raster->lens.clip);
    float member[3][ORR_LANES];
    int32_t screen[3][ORR_LANES];
    for (int i = 0; i < (int)count; i += ORR_LANES) {
        int left = (int)count - i;
        sint index = lane_index() + I(i);
        index = sel_int(lanes_below(left), index, I((int)count - 1)); // lanes past the end repeat the last
        real3 p =
            affine_point(to_camera, gather_three(from->position, index, sizeof(orr_mesh_vertex) / 4, false));
        mesh_seen seen = mesh_see(view, p);
        mask clipped = clip_height(clip, p) < R(0.0);
        sint out = (seen.near_plane & I(MESH_OUT_NEAR)) | (seen.left & I(MESH_OUT_LEFT)) |
                   (seen.right & I(MESH_OUT_RIGHT)) | (seen.top & I(MESH_OUT_TOP)) |
                   (seen.bottom & I(MESH_OUT_BOTTOM)) | (seen.guard & I(MESH_OUT_GUARD)) |
                   (clipped & I(MESH_OUT_CLIP));
        real_store(member[0], p.x);
        real_store(member[1], p.y);
        real_store(member[2], p.z);
        sint_store(screen[0], to_int(seen.x));
        sint_store(screen[1], to_int(seen.y));
        sint_store(screen[2], out);
        for (int lane = 0; lane < ORR_LANES && lane < left; lane++) {
            instance->points[first + i + lane] =
                (mesh_point){member[0][lane], member[1][lane], member[2][lane],
                             screen[0][lane], screen[1][lane], screen[2][lane]};
        }
    }
}

FN sint min_int(sint a, sint b)
{
    return sel_int(a < b, a, b);
}

FN sint max_int(sint a, sint b)
{
    return sel_int(a > b, a, b);
}

// Corner `corner` of the lanes' triangles on the screen.
typedef struct screen_corner {
    sint x, y, out;
} screen_corner;

// Lanes beyond `count` have the first triangle's. One load for each lane instead of three gathers: the
// vertices of neighbours are anywhere in memory, and this is what culling takes its time for.
FN screen_corner corner_on_screen(const mesh_instance *instance, const uint32_t *indices, int corner,
                                  int count)
{
    uint32_t at[ORR_LANES];
    for (int lane = 0; lane < ORR_LANES; lane++) {
        at[lane] = indices[3 * (lane < count ? lane : 0) + corner];
    }
#if ORR_LANES_AVX512 || ORR_LANES_AVX2
    real quad[4];
    real_gather_quads(&instance->points->z, at, sizeof(mesh_point) / 4, quad);
    return (screen_corner){(sint)quad[1], (sint)quad[2], (sint)quad[3]};
#else
    const sint vertex = sint_load((const int32_t *)at);
    return (screen_corner){(sint)point_member(instance, vertex, offsetof(mesh_point, screen_x)),
                           (sint)point_member(instance, vertex, offsetof(mesh_point, screen_y)),
                           (sint)point_member(instance, vertex, offsetof(mesh_point, out))};
#endif
}

// Lowest and highest screen position of three vertices.
typedef struct extent {
    sint low, high;
} extent;

FN extent extent_of(sint a, sint b, sint c)
{
    return (extent){min_int(min_int(a, b), c), max_int(max_int(a, b), c)};
}

// Does the triangle surely face away? What rounding leaves open mesh_set_corners decides.
FN mask faces_away(screen_corner a, screen_corner b, screen_corner c)
{
    const real one = to_real(b.x - a.x) * to_real(c.y - a.y), other = to_real(c.x - a.x) * to_real(b.y - a.y);
    return one - other > R(1e-6) * (abs_(one) + abs_(other));
}

// Is the point at `within` of some pixel [1/256 px] in it?
FN mask touches(extent e, int32_t within)
{
    return ((e.low + I(MESH_SUBPIXELS - 1 - within)) >> 8) <= ((e.high - I(within)) >> 8);
}

FN mask touches_sample(extent x, extent y)
{
    mask some = I(0);
    for (int s = 0; s < 4; s++) {
        some |= touches(x, MESH_SAMPLE_X(s)) & touches(y, MESH_SAMPLE_Y(s));
    }
    return some;
}

static void cull(const mesh_raster *raster, mesh_chunk *chunk)
{
    const mesh_instance *instance = raster->surfaces[chunk->surface].instance;
    const uint32_t *indices = instance->mesh->indices + 3 * (size_t)chunk->first;
    const bool two_sided = raster->surfaces[chunk->surface].two_sided;
    chunk->kept_count = chunk->cut_count = chunk->sliver_count = 0;
    for (int i = 0; i < (int)chunk->count; i += ORR_LANES) {
        int left = (int)chunk->count - i;
        const screen_corner a = corner_on_screen(instance, indices + 3 * i, 0, left),
                            b = corner_on_screen(instance, indices + 3 * i, 1, left),
                            c = corner_on_screen(instance, indices + 3 * i, 2, left);
        mask outside = (a.out & b.out & c.out & I(MESH_OUT_GUARD - 1)) != I(0);
        mask broken = ((a.out | b.out | c.out) & I(MESH_OUT_CUT)) != I(0);
        extent x = extent_of(a.x, b.x, c.x), y = extent_of(a.y, b.y, c.y);
        mask centre = touches(x, MESH_SUBPIXELS / 2) & touches(y, MESH_SUBPIXELS / 2);
        mask there = lanes_below(left) & ~outside;
        if (!two_sided) {
            there &= broken | ~faces_away(a, b, c);
        }
        mask keep = there & (broken | centre);
        chunk->cut_count += (uint32_t)__builtin_popcount(mask_bits(keep & broken));
        for (uint32_t bits = mask_bits(keep); bits; bits &= bits - 1) {
            chunk->kept[chunk->kept_count++] = chunk->first + (uint32_t)(i + __builtin_ctz(bits));
        }
        if (raster->edge_bits) {
            mask sliver = there & ~keep & touches_sample(x, y);
            for (uint32_t bits = mask_bits(sliver); bits; bits &= bits - 1) {
                chunk->kept[chunk->count - ++chunk->sliver_count] =
                    chunk->first + (uint32_t)(i + __builtin_ctz(bits));
            }
        }
    }
}

// ---- tiles ----

// Which of the pixels from (x, y) on are not holes. Not inlined: the loop below needs the registers.
static __attribute__((noinline)) mask solid_pixels(const mesh_raster *raster, const mesh_record *record,
                                                   int x, int y)
{
    return solid_at(raster, &raster->surfaces[record->surface], I((int32_t)record->triangle),
                    to_real(lane_index() + I(x)) + R(0.5), R((float)y + 0.5f));
}

// The part of a tile that a triangle may cover, and its plane there.
typedef struct record_span {
    mesh_edge edges[3];
    int first, right, top, bottom; // inclusive
    int left;                      // `first` or before, at a multiple of the lanes
    real across, down, start;      // nearness per pixel, and at the centre of the tile's first
    real nearest, farthest;
} record_span;

FN record_span span_over_tile(const mesh_record *record, int tile_x, int tile_y)
{
    record_span s;
    for (int k = 0; k < 3; k++) {
        s.edges[k] = mesh_edge_over_tile(record, k, tile_x, tile_y);
    }
    int left = mesh_first_pixel(mesh_lowest(record->x)) - tile_x,
        top = mesh_first_pixel(mesh_lowest(record->y)) - tile_y;
    s.first = left > 0 ? left : 0;
    s.left = s.first & ~(ORR_LANES - 1);
    s.right = mesh_last_pixel(mesh_highest(record->x), tile_x + MESH_TILE) - tile_x;
    s.top = top > 0 ? top : 0;
    s.bottom = mesh_last_pixel(mesh_highest(record->y), tile_y + MESH_TILE) - tile_y;
    s.across = R(record->across);
    s.down = R(record->down);
    s.start = R(mesh_nearness_at(record, tile_x, tile_y));
    s.nearest = R(record->nearest);
    s.farthest = R(record->farthest);
    return s;
}

// Is all of the rectangle that a triangle may cover on the outer side of one of its edges? So it is in many
// of the tiles that the box of a large one reaches.
FN bool misses_tile(const record_span *s)
{
    bool out = false;
    for (int k = 0; k < 3; k++) {
        const mesh_edge *e = &s->edges[k];
        out |= e->start + e->across * (e->across > 0 ? s->right : s->left) +
                   e->down * (e->down > 0 ? s->bottom : s->top) <
               0;
    }
    return out;
}

// A block of `columns` pixels, and of as many rows as fill the lanes.
FN real load_block(const float *pixel, int columns)
{
    if (columns == ORR_LANES) {
        return real_load(pixel);
    }
#if ORR_LANES_AVX512 || ORR_LANES_AVX2
    uint32_t at[ORR_LANES];
    for (int i = 0; i < ORR_LANES; i += 4) {
        at[i] = (uint32_t)(i / columns * MESH_TILE + i % columns);
    }
    return real_load_quads(pixel, at, 1);
#else
    return real_load(pixel); // which is 4 wide
#endif
}

FN void store_block(float *pixel, int columns, real values)
{
    if (columns == ORR_LANES) {
        real_store(pixel, values);
        return;
    }
    float lanes[ORR_LANES];
    real_store(lanes, values);
    for (int i = 0; i < ORR_LANES; i += 4) {
        memcpy(pixel + i / columns * MESH_TILE + i % columns, lanes + i, 4 * sizeof *lanes);
    }
}

// The narrowest blocks that are as wide as a rectangle, or else a vector.
static int block_columns(int width)
{
    int columns = ORR_LANES;
    while (columns > 4 && columns / 2 >= width) {
        columns /= 2;
    }
    return columns;
}

// A block of the tile's pixels: as narrow as a rectangle allows, so that lanes have several rows of it.
typedef struct pixel_block {
    int columns, rows;
    sint column, row; // of the lanes, within the block
} pixel_block;

FN pixel_block pixel_block_of(int width)
{
    pixel_block b = {.columns = block_columns(width)};
    b.rows = ORR_LANES / b.columns;
    b.column = lane_index() & I(b.columns - 1);
    b.row = lane_index() >> I(__builtin_ctz((uint32_t)b.columns));
    return b;
}

// Where a block begins that has pixel `first` and as many as follow in the tile.
FN int within_tile(int first, int count)
{
    return first < MESH_TILE - count ? first : MESH_TILE - count;
}

// Stores what is nearer in the block from (x, y) on.
FN void store_nearer(mesh_tile *tile, const pixel_block *b, int x, int y, int32_t id, mask hit, real now,
                     real before)
{
    if (any(hit)) {
        float *owner = (float *)tile->record + y * MESH_TILE + x; // whose bits are whole numbers
        store_block(tile->nearness + y * MESH_TILE + x, b->columns, sel(hit, now, before));
        store_block(owner, b->columns, (real)sel_int(hit, I(id), (sint)load_block(owner, b->columns)));
    }
}

// The same as draw_record of a triangle without holes that is no wider than the lanes: most of them are.
static void draw_narrow(mesh_tile *tile, const record_span *s, int32_t id)
{
    const pixel_block b = pixel_block_of(s->right - s->first + 1);
    const int x = within_tile(s->first, b.columns);
    const sint column = b.column + I(x);
    sint start[3], down[3];
    for (int k = 0; k < 3; k++) {
        start[k] = I(s->edges[k].start) + I(s->edges[k].across) * column;
        down[k] = I(s->edges[k].down);
    }
    for (int j = s->top; j <= s->bottom; j += b.rows) {
        const int y = within_tile(j, b.rows);
        const sint row = b.row + I(y);
        const mask inside =
            ((start[0] + down[0] * row) | (start[1] + down[1] * row) | (start[2] + down[2] * row)) >= I(0);
        if (any(inside)) {
            const real before = load_block(tile->nearness + y * MESH_TILE + x, b.columns),
                       now = mesh_nearness(s->start, s->across, s->down, to_real(column), to_real(row),
                                           s->farthest, s->nearest);
            store_nearer(tile, &b, x, y, id, inside & (now > before), now, before);
        }
    }
}

static void draw_record(const mesh_raster *raster, mesh_tile *tile, int tile_x, int tile_y, int32_t id)
{
    const mesh_record *record = &raster->records[id];
    const mesh_surface *surface = &raster->surfaces[record->surface];
    const bool cut_out = surface->holes, backdrop = surface->backdrop;
    const record_span s = span_over_tile(record, tile_x, tile_y);
    if (misses_tile(&s)) {
        return;
    }
    if (s.right - s.first < ORR_LANES && !cut_out && !backdrop) {
        draw_narrow(tile, &s, id);
        return;
    }
    for (int x = s.left; x <= s.right; x += ORR_LANES) {
        sint column = lane_index() + I(x);
        sint value[3];
        for (int k = 0; k < 3; k++) {
            value[k] = I(s.edges[k].start + s.edges[k].down * s.top) + I(s.edges[k].across) * column;
        }
        for (int y = s.top; y <= s.bottom; y++) {
            mask hit = (value[0] | value[1] | value[2]) >= I(0);
            for (int k = 0; k < 3; k++) {
                value[k] += I(s.edges[k].down);
            }
            if (!any(hit)) {
                continue;
            }
            float *pixel = tile->nearness + y * MESH_TILE + x;
            real before = real_load(pixel);
            real now =
                mesh_nearness(s.start, s.across, s.down, to_real(column), R((float)y), s.farthest, s.nearest);
            now = backdrop ? before : now; // it is drawn first, and everything covers it
            hit &= backdrop ? hit : now > before;
            if (!any(hit)) {
                continue;
            }
            if (cut_out) {
                hit &= solid_pixels(raster, record, tile_x + x, tile_y + y);
            }
            int32_t *owner = tile->record + y * MESH_TILE + x;
            real_store(pixel, sel(hit, now, before));
            sint_store(owner, sel_int(hit, I(id), sint_load(owner)));
        }
    }
}

// The same as draw_record of a round surface.
static void draw_round(const mesh_raster *raster, mesh_tile *tile, int tile_x, int tile_y, int32_t id)
{
    const mesh_record *record = &raster->records[id];
    const mesh_instance *instance = raster->surfaces[record->surface].instance;
    const mesh_box box = mesh_box_of(record->x, record->y, raster->lens.width, raster->lens.height, false);
    const int left = box.left > tile_x ? box.left - tile_x : 0, top = box.top > tile_y ? box.top - tile_y : 0,
              right = box.right - tile_x < MESH_TILE ? box.right - tile_x : MESH_TILE - 1,
              bottom = box.bottom - tile_y < MESH_TILE ? box.bottom - tile_y : MESH_TILE - 1;
    const pixel_block b = pixel_block_of(right - left + 1);
    for (int j = top; j <= bottom; j += b.rows) {
        for (int i = left; i <= right; i += b.columns) {
            const int x = within_tile(i, b.columns), y = within_tile(j, b.rows);
            float *pixel = tile->nearness + y * MESH_TILE + x;
            const real before = load_block(pixel, b.columns),
                       now = round_nearness(raster, instance, to_real(b.column + I(tile_x + x)) + R(0.5),
                                            to_real(b.row + I(tile_y + y)) + R(0.5));
            store_nearer(tile, &b, x, y, id, now > before, now, before);
        }
    }
}

// Which mesh of the list a triangle is of.
static int32_t item_of(const mesh_raster *raster, int32_t id)
{
    const bool backdrop = raster->instance_count > 0 && raster->instances[0].backdrop;
    if (id < 0) {
        return -1;
    }
    const mesh_instance *instance = raster->surfaces[raster->records[id].surface].instance;
    return (int32_t)(instance - raster->instances) - (backdrop ? 1 : 0); // the backdrop is the first: -1
}

static void store_seen(const mesh_raster *raster, seen_values seen, size_t at, int count)
{
    float member[5][ORR_LANES];
    real_store(member[0], seen.normal.x);
    real_store(member[1], seen.normal.y);
    real_store(member[2], seen.normal.z);
    real_store(member[3], seen.flow.x);
    real_store(member[4], seen.flow.y);
    for (size_t i = 0; i < ORR_LANES && (int)i < count; i++) {
        for (size_t k = 0; raster->picture.normals && k < 3; k++) {
            raster->picture.normals[3 * (at + i) + k] = member[k][i];
        }
        for (size_t k = 0; raster->picture.flow && k < 2; k++) {
            raster->picture.flow[2 * (at + i) + k] = member[3 + k][i];
        }
    }
}

// Lists pixels of a row from number `at` of the picture on; there is nothing in them yet.
static void list_pixels(const mesh_raster *raster, mesh_shade_list *list, const int32_t *records, int count,
                        size_t at)
{
    const size_t width = (size_t)raster->lens.width;
    for (int i = 0; i < count && i < ORR_LANES; i++) {
        if (records[i] >= 0) {
            list_point(raster, list, records[i], (float)((at + (size_t)i) % width) + 0.5f,
                       (float)(at / width) + 0.5f, 1.0f, (int32_t)(at + (size_t)i));
        }
    }
}

// Of the pixels that show what was kept; 0 elsewhere.
FN real4 kept_colour(const float *rgb, size_t plane, sint id)
{
    const mask kept = id == I(ORR_KEPT_MESH);
    return (real4){sel(kept, real_load(rgb), R(0.0)), sel(kept, real_load(rgb + plane), R(0.0)),
                   sel(kept, real_load(rgb + 2 * plane), R(0.0)), R(0.0)};
}

static void shade_tile(const mesh_raster *raster, const mesh_tile *tile, mesh_shade_list *list, int tile_x,
                       int tile_y)
{
    const bool backdrop = raster->instance_count > 0 && raster->instances[0].backdrop;
    const mesh_view view = mesh_view_of(&raster->lens);
    int width = raster->lens.width, height = raster->lens.height;
    size_t plane = (size_t)width * (size_t)height;
    shade_last last = {.id = -1};
    for (int y = 0; y < MESH_TILE && tile_y + y < height; y++) {
        for (int x = 0; x < MESH_TILE && tile_x + x < width; x += ORR_LANES) {
            sint id = sint_load(tile->record + y * MESH_TILE + x);
            real nearness = real_load(tile->nearness + y * MESH_TILE + x);
            real depth = mesh_depth(view, nearness);
            const real column = to_real(lane_index() + I(tile_x + x)) + R(0.5),
                       row = R((float)(tile_y + y) + 0.5f);
            mask there = backdrop ? nearness > R(mesh_farthest(&raster->lens)) : id != I(-1);
            size_t at = (size_t)(tile_y + y) * (size_t)width + (size_t)(tile_x + x);
            int count = width - tile_x - x;
            real4 colour = {R(0.0), R(0.0), R(0.0), R(0.0)};
            sint met = I(0);
            if (raster->picture.keep) {
                store_some(raster->picture.keep->nearness + at, nearness, count);
                store_some((float *)raster->picture.keep->record + at,
                           (real)sel_int(id >= I(0), I(ORR_KEPT_MESH), I(-1)), count);
            }
            if (raster->picture.kept) {
                colour = kept_colour(raster->picture.kept->rgb + at, plane, id);
            }
            if (is_one_surface(raster, id)) {
                colour = shade_records(raster, &last, id, column, row, R(1.0), &met);
            } else {
                list_pixels(raster, list, tile->record + y * MESH_TILE + x, count, at);
            }
            store_some(raster->picture.depth + at, sel(there, depth, R(INFINITY)), count);
            store_some(raster->picture.rgb + at, colour.x, count);
            store_some(raster->picture.rgb + plane + at, colour.y, count);
            store_some(raster->picture.rgb + 2 * plane + at, colour.z, count);
            if (raster->picture.normals || raster->picture.flow) {
                store_seen(raster, see_records(raster, id, column, row), at, count);
            }
            if (raster->nearest) {
                store_some((float *)raster->nearest + at, (real)id, count);
            }
            if (raster->met) {
                store_some((float *)raster->met + at, (real)met, count);
            }
            for (int i = 0; raster->picture.item && i < count && i < ORR_LANES; i++) {
                raster->picture.item[at + (size_t)i] = item_of(raster, tile->record[y * MESH_TILE + x + i]);
            }
        }
    }
    float *const planes[3] = {raster->picture.rgb, raster->picture.rgb + plane,
                              raster->picture.rgb + 2 * plane};
    shade_listed(raster, list, planes, raster->met);
}

// The depth of a tile's nearest surfaces alone.
static void store_depth(const mesh_raster *raster, const mesh_tile *tile, int tile_x, int tile_y)
{
    const mesh_view view = mesh_view_of(&raster->lens);
    int width = raster->lens.width, height = raster->lens.height;
    real farthest = R(mesh_farthest(&raster->lens));
    for (int y = 0; y < MESH_TILE && tile_y + y < height; y++) {
        for (int x = 0; x < MESH_TILE && tile_x + x < width; x += ORR_LANES) {
            real nearness = real_load(tile->nearness + y * MESH_TILE + x);
            real depth = sel(nearness > farthest, mesh_depth(view, nearness), R(INFINITY));
            size_t at = (size_t)(tile_y + y) * (size_t)width + (size_t)(tile_x + x);
            store_some(raster->picture.depth + at, depth, width - tile_x - x);
        }
    }
}

// The depth of a tile where there is nothing.
static void store_no_depth(const mesh_raster *raster, int tile_x, int tile_y)
{
    int width = raster->lens.width, height = raster->lens.height;
    for (int y = tile_y; y < tile_y + MESH_TILE && y < height; y++) {
        for (int x = tile_x; x < tile_x + MESH_TILE && x < width; x += ORR_LANES) {
            store_some(raster->picture.depth + (size_t)y * (size_t)width + (size_t)x, R(INFINITY), width - x);
        }
    }
}

static bool is_blended(const mesh_raster *raster, uint32_t id)
{
    return raster->surfaces[raster->records[id].surface].blended;
}

// The nearest of the meshes that were kept.
static void begin_with_kept(const mesh_raster *raster, mesh_tile *tile, int tile_x, int tile_y)
{
    const orr_kept_meshes_picture *kept = raster->picture.kept;
    const int width = raster->lens.width, height = raster->lens.height;
    for (int y = 0; y < MESH_TILE && tile_y + y < height; y++) {
        for (int x = 0; x < MESH_TILE && tile_x + x < width; x += ORR_LANES) {
            const size_t at = (size_t)(tile_y + y) * (size_t)width + (size_t)(tile_x + x);
            real_store(tile->nearness + y * MESH_TILE + x, real_load(kept->nearness + at));
            sint_store(tile->record + y * MESH_TILE + x, sint_load(kept->record + at));
        }
    }
}

static void draw_tile(const mesh_raster *raster, int index, mesh_tile *tile, mesh_shade_list *list)
{
    int tile_x = index % raster->columns * MESH_TILE, tile_y = index / raster->columns * MESH_TILE;
    real farthest = R(mesh_farthest(&raster->lens));
    if (!raster->picture.rgb && raster->bins.starts[index] == raster->bins.starts[index + 1]) {
        store_no_depth(raster, tile_x, tile_y);
        return;
    }
    for (int i = 0; i < MESH_TILE * MESH_TILE; i += ORR_LANES) {
        real_store(tile->nearness + i, farthest);
        sint_store(tile->record + i, I(-1));
    }
    if (raster->picture.kept) {
        begin_with_kept(raster, tile, tile_x, tile_y);
    }
    uint32_t end = raster->bins.starts[index + 1];
    for (uint32_t i = raster->bins.starts[index]; i < end; i++) {
        // records lie in memory by triangle, not by tile
        __builtin_prefetch(&raster->records[raster->bins.records[i + 4 < end ? i + 4 : i]]);
        const uint32_t id = raster->bins.records[i];
        if (raster->surfaces[raster->records[id].surface].round) {
            draw_round(raster, tile, tile_x, tile_y, (int32_t)id);
        } else if (!is_blended(raster, id)) {
            draw_record(raster, tile, tile_x, tile_y, (int32_t)id);
        }
    }
    if (raster->picture.rgb) {
        shade_tile(raster, tile, list, tile_x, tile_y);
    } else {
        store_depth(raster, tile, tile_x, tile_y);
    }
}

// ---- fragments ----

// Inserts a fragment among the `count` of its pixel: by depth, and behind those of equal depth.
static void insert_fragment(const mesh_raster *raster, size_t pixel, int count, float depth,
                            mesh_fragment_source source)
{
    uint32_t at = raster->fragment_starts[pixel] + (uint32_t)count;
    for (; count > 0 && raster->fragments[at - 1].depth > depth; count--, at--) {
        raster->fragments[at] = raster->fragments[at - 1];
        raster->sources[at] = raster->sources[at - 1];
    }
    raster->fragments[at].depth = depth;
    raster->sources[at] = source;
}

// Counts a triangle's fragments that are not covered; with `fill` also stores them, once the starts are
// known.
FN void gather_fragments(const mesh_raster *raster, mesh_tile *tile, int tile_x, int tile_y, int32_t id,
                         bool fill)
{
    const record_span s = span_over_tile(&raster->records[id], tile_x, tile_y);
    const mesh_view view = mesh_view_of(&raster->lens);
    for (int x = s.left; x <= s.right; x += ORR_LANES) {
        sint column = lane_index() + I(x);
        for (int y = s.top; y <= s.bottom; y++) {
            mask hit = I(-1);
            for (int k = 0; k < 3; k++) {
                hit &= I(s.edges[k].start + s.edges[k].down * y) + I(s.edges[k].across) * column >= I(0);
            }
            real now =
                mesh_nearness(s.start, s.across, s.down, to_real(column), R((float)y), s.farthest, s.nearest);
            real depth = mesh_depth(view, now);
            int32_t *count = tile->count + y * MESH_TILE + x;
            hit &= depth < real_load(tile->depth + y * MESH_TILE + x);
            if (fill) {
                float depths[ORR_LANES];
                real_store(depths, depth);
                size_t row = (size_t)(tile_y + y) * (size_t)raster->lens.width;
                for (uint32_t bits = mask_bits(hit); bits; bits &= bits - 1) {
                    int lane = __builtin_ctz(bits), column_there = tile_x + x + lane;
                    insert_fragment(raster, row + (size_t)column_there, count[lane], depths[lane],
                                    (mesh_fragment_source){id, column_there});
                }
            }
            sint_store(count, sint_load(count) - (hit & I(-1)));
        }
    }
}

// Depth of a tile's opaque surfaces, and no fragments yet; beyond the picture everything is covered.
static void begin_fragments(const mesh_raster *raster, mesh_tile *tile, int tile_x, int tile_y)
{
    int width = raster->lens.width, height = raster->lens.height;
    for (int y = 0; y < MESH_TILE; y++) {
        for (int x = 0; x < MESH_TILE; x++) {
            bool inside = tile_x + x < width && tile_y + y < height;
            size_t at = inside ? (size_t)(tile_y + y) * (size_t)width + (size_t)(tile_x + x) : 0;
            float depth = inside ? raster->picture.depth[at] : -INFINITY;
            tile->depth[y * MESH_TILE + x] = fminf(depth, raster->lens.far_plane);
            tile->count[y * MESH_TILE + x] = 0;
        }
    }
}

FN void gather_tile(const mesh_raster *raster, int index, mesh_tile *tile, bool fill)
{
    int tile_x = index % raster->columns * MESH_TILE, tile_y = index / raster->columns * MESH_TILE;
    begin_fragments(raster, tile, tile_x, tile_y);
    for (uint32_t i = raster->bins.starts[index]; i < raster->bins.starts[index + 1]; i++) {
        if (is_blended(raster, raster->bins.records[i])) {
            gather_fragments(raster, tile, tile_x, tile_y, (int32_t)raster->bins.records[i], fill);
        }
    }
}

static void count_tile(const mesh_raster *raster, int index, mesh_tile *tile)
{
    gather_tile(raster, index, tile, false);
    int tile_x = index % raster->columns * MESH_TILE, tile_y = index / raster->columns * MESH_TILE;
    for (int y = 0; y < MESH_TILE && tile_y + y < raster->lens.height; y++) {
        for (int x = 0; x < MESH_TILE && tile_x + x < raster->lens.width; x++) {
            raster
                ->fragment_starts[(size_t)(tile_y + y) * (size_t)raster->lens.width + (size_t)(tile_x + x)] =
                (uint32_t)tile->count[y * MESH_TILE + x];
        }
    }
}

// Colours of fragments first .. end, which are of one row of pixels.
static void shade_fragments(const mesh_raster *raster, uint32_t first, uint32_t end, int row)
{
    shade_last last = {.id = -1};
    for (; first < end; first += ORR_LANES) {
        int count = end - first < ORR_LANES ? (int)(end - first) : ORR_LANES;
        int32_t id[ORR_LANES], column[ORR_LANES];
        for (int i = 0; i < ORR_LANES; i++) {
            const mesh_fragment_source *source = &raster->sources[first + (uint32_t)(i < count ? i : 0)];
            id[i] = source->record;
            column[i] = source->x;
        }
        real4 c = shade_records(raster, &last, sint_load(id), to_real(sint_load(column)) + R(0.5),
                                R((float)row + 0.5f), R(1.0), NULL);
        float member[4][ORR_LANES];
        real_store(member[0], c.x * c.w);
        real_store(member[1], c.y * c.w);
        real_store(member[2], c.z * c.w);
        real_store(member[3], c.w);
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < 4; k++) {
                raster->fragments[first + (uint32_t)i].rgba[k] = member[k][i];
            }
        }
    }
}

static void fill_tile(const mesh_raster *raster, int index, mesh_tile *tile)
{
    gather_tile(raster, index, tile, true);
    int tile_x = index % raster->columns * MESH_TILE, tile_y = index / raster->columns * MESH_TILE;
    int width = raster->lens.width, right = tile_x + MESH_TILE < width ? tile_x + MESH_TILE : width;
    for (int y = 0; y < MESH_TILE && tile_y + y < raster->lens.height; y++) {
        const uint32_t *starts = raster->fragment_starts + (size_t)(tile_y + y) * (size_t)width;
        shade_fragments(raster, starts[tile_x], starts[right], tile_y + y);
    }
}

const mesh_lanes ORR_ISA_NAME(orr_mesh_lanes) = {linear_table, vertices,   cull,
                                                 draw_tile,    count_tile, fill_tile};
