// Lookups in the shadow maps, which are below one another in one image `shadow_maps` of depths along their
// lights' axes. Comes after it and `lighting`.

// The part of its light that reaches a point past what map `map` shows. normal: 0 of a point that is not in
// it.
float shadow_lookup(int map, real3 position, real3 normal)
{
    shadow_square s = shadow_find(lighting.shadows[map], position, normal);
    ivec2 first = ivec2(int(s.left), int(s.top) + map * lighting.shadow_size);
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
