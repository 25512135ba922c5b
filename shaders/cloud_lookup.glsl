// Lookups in the opacity maps of clouds. Comes after a buffer `clouds` with a cloud_table `table` and its
// `texels`, and after light.glsl.

// The first float of the texel at a whole column and row. first: texel at which the light's maps begin
int cloud_texel_at(int first, shadow_view v, float slot, float column, float row)
{
    int size = int(v.size);
    return (first + (int(slot) * size + int(row)) * size + int(column)) * CLOUD_TEXEL;
}

// What is left of the light at a depth.
float cloud_left_at(int at, float depth)
{
    cloud_texel t;
    t.first = clouds.texels[at];
    t.last = clouds.texels[at + 1];
    t.a = clouds.texels[at + 2];
    t.b = clouds.texels[at + 3];
    t.c = clouds.texels[at + 4];
    t.d = clouds.texels[at + 5];
    return cloud_texel_left(t, depth);
}

// The mean over the four texels around a place.
float cloud_left_around(int first, shadow_view v, shadow_place p, float x, float y)
{
    float left = floor_(x), top = floor_(y), around[4];
    for (int k = 0; k < 4; k++) {
        float column = shadow_clamp(v, left + float(k % 2));
        float row = shadow_clamp(v, top + float(k / 2));
        around[k] = cloud_left_at(cloud_texel_at(first, v, p.slot, column, row), p.z);
    }
    return shadow_mix(x - left, y - top, around[0], around[1], around[2], around[3]);
}

// Of a light with a size: the mean over the penumbra of what is found above the point.
float cloud_left_soft(int first, shadow_view v, real3 position)
{
    shadow_soft s = shadow_find_soft(v, position, make_real3(0.0, 0.0, 0.0));
    shadow_tap t = shadow_first_tap(s.radius);
    float weight = 0.0, depths = 0.0, sum = 0.0;
    for (int i = 0; i < SHADOW_SEARCHES; i++) {
        t = shadow_next_tap(t, s.radius, (float(i) + 0.5) / float(SHADOW_SEARCHES));
        float column = shadow_clamp(v, floor_(s.place.x + t.x + 0.5));
        float row = shadow_clamp(v, floor_(s.place.y + t.y + 0.5));
        int at = cloud_texel_at(first, v, s.place.slot, column, row);
        float held = 1.0 - cloud_left_at(at, s.place.z);
        weight += held;
        if (held > 0.0) {
            depths += held * clouds.texels[at];
        }
    }
    if (weight <= 0.0 || s.place.inside < 0.5) {
        return 1.0;
    }
    float radius = shadow_radius(v, s, depths / max_(weight, 1e-20));
    t = shadow_first_tap(radius);
    for (int i = 0; i < SHADOW_TAPS; i++) {
        t = shadow_next_tap(t, radius, (float(i) + 0.5) / float(SHADOW_TAPS));
        sum += cloud_left_around(first, v, s.place, s.place.x + t.x, s.place.y + t.y);
    }
    return sum * (1.0 / float(SHADOW_TAPS));
}

float cloud_left(int first, shadow_view v, real3 position)
{
    if (v.spread > 0.0) {
        return cloud_left_soft(first, v, position);
    }
    shadow_place p = shadow_locate(v, position, make_real3(0.0, 0.0, 0.0));
    return p.inside > 0.5 ? cloud_left_around(first, v, p, p.x, p.y) : 1.0;
}

// The number of the caster that a splat of the frame is of; -1: of none.
int cloud_owner(uint splat)
{
    int owner = -1;
    for (int i = 0; i < clouds.table.count; i++) {
        bool mine = splat >= clouds.table.casters[i].first && splat < clouds.table.casters[i].end;
        owner = mine ? i : owner;
    }
    return owner;
}

// The part of light `light`, of the frame's, that reaches a point in the camera's space past the clouds.
// owner: of cloud_owner, that the point is on and that does not shadow itself
float cloud_shadow_lookup(int light, real3 position, int owner)
{
    float left = 1.0;
    for (int i = 0; i < clouds.table.count; i++) {
        int k = clouds.table.casters[i].light_of[light];
        if (k >= 0 && i != owner) {
            left *= cloud_left(clouds.table.casters[i].firsts[k], clouds.table.casters[i].values[k],
                               position);
        }
    }
    return left;
}
