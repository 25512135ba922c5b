#define ORR_SCALAR
#include "render/field_light/field_lamps.h"

#include "render/field_light/captured_light_formula.h"

static void find_captured(const orr_draw_list *list, orr_field_lamps *found)
{
    int count = 0;
    for (int i = 0; i < found->lamps.count; i++) {
        const orr_self_map *map = orr_self_shadow_of_light(list->self_shadow, found->lamps.numbers[i]);
        found->captured_of[i] = map ? count : -1;
        if (map) {
            found->captured[count] = orr_self_shadow_values(map, list->lens.view);
            found->captured_firsts[count++] = map->first;
        }
    }
}

bool orr_field_lamps_find(const orr_draw_list *list, orr_field_lamps *found)
{
    const orr_lens *lens = &list->lens;
    const float across = lens->orthographic ? (float)lens->width : lens->focal[0];
    const int32_t stride = (int32_t)((float)CAPTURED_SPAN * across / CAPTURED_TAPS);
    *found = (orr_field_lamps){.eye = orr_shadow_eye_of(lens, list->umbra, false),
                               .width = lens->width,
                               .height = lens->height,
                               .stride = stride > 1 ? stride : 1};
    orr_draw_captured_lamps(list, &found->lamps);
    find_captured(list, found);
    return found->lamps.count > 0;
}
