// Lookups in the maps of what captured surfaces keep off: depths behind the texels of the environments. Comes
// after `lighting` and `environment_texels`.

// How much of a light reaches a point past what was captured; `first`: of the map's texels behind those of
// all environments. normal: 0 of a captured point.
float captured_shadow_lookup(shadow_view view, int first, real3 position, real3 normal)
{
    shadow_square s = shadow_find(view, position, normal);
    int size = int(view.size);
    int at = lighting.self_first + first + (int(s.slot) * size + int(s.top)) * size + int(s.left);
    float rows[4];
    for (int k = 0; k < 4; k++) {
        float lit[4];
        for (int i = 0; i < 4; i++) {
            lit[i] = shadow_test(s, uintBitsToFloat(environment_texels[at + k * size + i]));
        }
        rows[k] = shadow_sum(s.part_x, lit[0], lit[1], lit[2], lit[3]);
    }
    return shadow_visible(s, shadow_sum(s.part_y, rows[0], rows[1], rows[2], rows[3]));
}
