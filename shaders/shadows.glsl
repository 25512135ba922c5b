// Lookups in the shadow maps, which are in one image `shadow_maps` of depths along their lights' axes: lights
// below one another, the maps of each two in a row. Comes after it, `lighting` and CASCADED: may a light have
// cascades?

// Where the map begins in the image.
ivec2 shadow_origin(int light, float slot_number)
{
    int slot = int(slot_number), size = int(lighting.shadows[light].size);
    return ivec2(slot % 2 * size, lighting.shadow_tops[light] + slot / 2 * size);
}

// The texel at a whole column and row.
float shadow_texel(int light, float slot, float column, float row)
{
    return texelFetch(shadow_maps, shadow_origin(light, slot) + ivec2(int(column), int(row)), 0).r;
}

// The mean over the disc of what `s` has found: each tap of the tests of 2 x 2 texels.
float shadow_soft_mean(int light, shadow_view v, shadow_soft s, float radius)
{
    shadow_tap t = shadow_first_tap(radius);
    float sum = 0.0;
    for (int i = 0; i < SHADOW_TAPS; i++) {
        t = shadow_next_tap(t, radius, (float(i) + 0.5) / float(SHADOW_TAPS));
        float x = s.place.x + t.x, y = s.place.y + t.y, left = floor_(x), top = floor_(y), lit[4];
        for (int k = 0; k < 4; k++) {
            float column = shadow_clamp(v, left + float(k % 2));
            float row = shadow_clamp(v, top + float(k / 2));
            lit[k] = shadow_test_soft(v, s, column, row, t.distance,
                                      shadow_texel(light, s.place.slot, column, row));
        }
        sum += shadow_mix(x - left, y - top, lit[0], lit[1], lit[2], lit[3]);
    }
    return sum * (1.0 / float(SHADOW_TAPS));
}

// As shadow_lookup, of a light with a size.
float shadow_lookup_soft(int light, shadow_view v, real3 position, real3 normal)
{
    shadow_soft s = shadow_find_soft(v, position, normal);
    shadow_tap t = shadow_first_tap(s.radius);
    float sum = 0.0;
    int count = 0;
    for (int i = 0; i < SHADOW_SEARCHES; i++) {
        t = shadow_next_tap(t, s.radius, (float(i) + 0.5) / float(SHADOW_SEARCHES));
        float column = shadow_clamp(v, floor_(s.place.x + t.x + 0.5));
        float row = shadow_clamp(v, floor_(s.place.y + t.y + 0.5));
        float depth = shadow_texel(light, s.place.slot, column, row);
        if (shadow_test_soft(v, s, column, row, t.distance, depth) < 0.5) {
            count++;
            sum += depth;
        }
    }
    if (count == 0 || s.place.inside < 0.5) {
        return 1.0;
    }
    return count == SHADOW_SEARCHES ? 0.0
                                    : shadow_soft_mean(light, v, s, shadow_radius(v, s, sum / float(count)));
}

// The part of the light that reaches a point past what one of its maps shows.
float shadow_lookup_in(int light, shadow_view view, real3 position, real3 normal)
{
    if (view.spread > 0.0) {
        return shadow_lookup_soft(light, view, position, normal);
    }
    shadow_square s = shadow_find(view, position, normal);
    ivec2 first = shadow_origin(light, s.slot) + ivec2(int(s.left), int(s.top));
    float rows[4];
    for (int k = 0; k < 4; k++) {
        float lit[4];
        for (int i = 0; i < 4; i++) {
            lit[i] = shadow_test(s, texelFetch(shadow_maps, first + ivec2(i, k), 0).r);
        }
        rows[k] = shadow_sum(s.part_x, lit[0], lit[1], lit[2], lit[3]);
    }
    return shadow_visible(s, shadow_sum(s.part_y, rows[0], rows[1], rows[2], rows[3]));
}

// The part of the light, by its number among those that cast shadows, that reaches a point past what its maps
// show. normal: 0 of a point that is not in them.
float shadow_lookup(int light, real3 position, real3 normal)
{
    if (!CASCADED) {
        return shadow_lookup_in(light, lighting.shadows[light], position, normal);
    }
    int first = lighting.cascade_firsts[light], count = lighting.cascade_counts[light];
    cascade_sum sum = cascade_begin();
    for (int i = 0; i <= count; i++) { // one call of the lookup in the text, which is large
        bool whole = i == count;
        float weight = 1.0;
        if (!whole) {
            weight = cascade_weight(lighting.cascades[first + i], position);
        }
        if (sum.rest * weight > 0.0) {
            shadow_view view = lighting.shadows[light];
            if (!whole) {
                view = lighting.cascades[first + i].map;
            }
            float visible = shadow_lookup_in(light, view, position, normal);
            if (count == 0) {
                return visible;
            }
            sum = cascade_add(sum, weight, visible);
        }
    }
    return cascade_visible(sum);
}
