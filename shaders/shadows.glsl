// Lookups in the shadow maps, which are in one image `shadow_maps` of depths along their lights' axes: lights
// below one another, the maps of a cube two in a row. Comes after it and `lighting`.

// The part of the light, by its number among those that cast shadows, that reaches a point past what its maps
// show. normal: 0 of a point that is not in them.
float shadow_lookup(int light, real3 position, real3 normal)
{
    shadow_square s = shadow_find(lighting.shadows[light], position, normal);
    int slot = int(s.slot), size = int(lighting.shadows[light].size);
    ivec2 first = ivec2(int(s.left) + slot % 2 * size,
                        int(s.top) + lighting.shadow_tops[light] + slot / 2 * size);
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
