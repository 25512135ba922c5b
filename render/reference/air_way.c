#define ORR_SCALAR
#include "render/reference/air_way.h"

#include "engine/maths/vector.h"

bool air_is_there(haze_view v)
{
    return v.reach_over_height > 0.0f || v.fog_inverse_width > 0.0f;
}

static real3 seen_from_camera(const air_view *v, const float point[3])
{
    float moved[3];
    affine_apply_to_point(v->view, point, moved);
    return of_three(moved);
}

air_ray air_ray_of(const air_view *v, const orr_ray *ray)
{
    float turned[3];
    affine_apply_to_direction(v->view, ray->direction, turned);
    return (air_ray){seen_from_camera(v, ray->origin), of_three(turned)};
}

haze_air air_up_to(const air_view *v, const orr_ray *ray, real along)
{
    const air_ray r = air_ray_of(v, ray);
    return haze_along(v->haze, (haze_path){.axis = along}, r.from, r.towards, ray->far_end, false);
}

air_way air_way_from(const air_view *v, real3 first)
{
    const float point[3] = {first.x, first.y, first.z};
    return (air_way){.at = haze_path_to(v->haze, seen_from_camera(v, point)), .air.passes = 1.0f};
}

bool air_way_ends(const air_view *v, const air_way *way, const air_ray *ray)
{
    return v->haze.reach_over_height > 0.0f && !haze_path_leaves(v->haze, way->at, ray->from, ray->towards);
}

// What is behind two airs one after the other.
static haze_air join(haze_air before, haze_air behind)
{
    return (haze_air){before.passes * behind.passes, haze_behind(before, behind.added)};
}

void air_way_on(const air_view *v, air_way *way, const air_ray *ray, real length)
{
    const bool sky = length == INFINITY;
    way->air = join(way->air, haze_along(v->haze, way->at, ray->from, ray->towards, length, sky));
    way->at = haze_path_on(v->haze, way->at, ray->towards, sky ? 0.0f : length);
}

air_sample air_split(haze_air first, const air_way *way, real3 light, real part, real3 *clear)
{
    const bool beyond = way->group != AIR_SEEN, hazy = first.passes < 1.0f || beyond;
    const real3 black = {0.0f, 0.0f, 0.0f}, far = beyond ? sub3(light, way->light_before) : black;
    const real3 own = sub3(light, far);
    *clear = hazy ? *clear : add3(*clear, own);
    return (air_sample){
        .air = first,
        .behind = hazy ? own : black,
        .part = hazy ? part : 0.0f,
        .group = way->group,
        .air_beyond = way->air,
        .beyond = scale3(far, first.passes),
        .share = scale3(way->share, first.passes),
    };
}
