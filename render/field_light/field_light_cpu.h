// Lanes over points of what fields show: light of lamps that were not there when they were captured. Part of
// field_light_cpu.c, and of rays of smooth surfaces.
#pragma once

#include "render/cloud_shadow/cloud_shadow_cpu.h"
#include "render/cpu/shadow_cpu.h"
#include "render/field_light/captured_light_formula.h"
#include "render/field_light/field_light.h"

// The camera's space.
typedef struct field_point {
    real3 position, normal;
    real known; // as of captured_facing
    mask lit;   // the lanes that are asked for
} field_point;

// The part of a lamp that reaches the points past meshes, what is captured and clouds that move.
FN real field_light_visible(const orr_field_light_job *job, int lamp, const field_point *p)
{
    const orr_field_lamps *l = job->lamps;
    const int number = l->lamps.numbers[lamp];
    const orr_shadow_maps *shadows = job->maps.shadows;
    const orr_cloud_shadows *clouds = job->maps.clouds;
    const int caster = shadows && shadows->texels ? shadows->plan.light_of[number] : -1;
    real visible = caster < 0 ? R(1.0) : shadow_lookup(shadows, caster, p->position, p->normal);
    const int map = l->captured_of[lamp];
    if (map >= 0) {
        visible = visible * shadow_lookup_in(job->captured + l->captured_firsts[map],
                                             shadow_view_of(&l->captured[map]), p->position, p->normal);
    }
    return clouds && clouds->count > 0 ? visible * cloud_shadow_lookup(clouds, number, p->position, R(-1.0))
                                       : visible;
}

// The radiance of white surfaces in the light of the lamps.
FN real3 field_light_on(const orr_field_light_job *job, const field_point *p)
{
    const orr_captured_lamps *lamps = &job->lamps->lamps;
    real3 sum = make_real3(R(0.0), R(0.0), R(0.0));
    for (int i = 0; i < lamps->count; i++) {
        const orr_light_values *lamp = &lamps->lamps[i];
        const light_incidence incident = light_incident(light_of(lamp), p->position);
        const real cosine = max_(dot3(incident.to_light, p->normal), R(0.0));
        real strength = incident.strength * captured_facing(p->known, cosine);
        strength = sel(and_(p->lit, strength > R(CAPTURED_FAINT)), strength, R(0.0));
        if (any(strength > R(0.0))) {
            strength = strength * field_light_visible(job, i, p);
            sum = light_add_colour(sum, strength, lamp->diffuse[0], lamp->diffuse[1], lamp->diffuse[2]);
        }
    }
    return sum;
}
