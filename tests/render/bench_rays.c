// Rays per second through triangles: the reference's bounding volume hierarchy beside Embree's, one after the
// other over the same rays. By hand: bench_rays MESH...; built where Embree 3 or 4 is (libembree-dev).
#define _POSIX_C_SOURCE 200809L
#include "engine/maths/rng.h"
#include "engine/maths/vector.h"
#include "render/mesh.h"
#include "render/reference/triangles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if ORR_EMBREE_VERSION >= 4
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif

enum {
    SIDE = 512, // [px] primary rays a side
    ROUNDS = 5  // the best of which counts
};

typedef struct scene {
    float *corners; // count x 9
    int64_t count;
    float centre[3], radius;
    orr_triangle_tree tree;
    const orr_triangle_walk *walk;
    RTCScene embree;
} scene;

typedef struct rays {
    const char *name;
    orr_ray *rays;
    int count;
    bool any; // whether there is a hit, rather than the first one
} rays;

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int fail(const char *what, const orr_error *error)
{
    fprintf(stderr, "bench_rays: %s: %s\n", what, error->message);
    return 1;
}

static void make_unit(float v[3])
{
    float length = sqrtf(vec3f_dot(v, v));
    for (int k = 0; k < 3 && length > 0.0f; k++) {
        v[k] /= length;
    }
}

// ---- both hierarchies ----

static bool load(const char *path, scene *s, orr_error *error)
{
    orr_mesh *mesh;
    if (orr_mesh_load(path, &mesh, error) != ORR_OK) {
        return false;
    }
    s->count = mesh->index_count / 3;
    s->corners = malloc((size_t)s->count * 9 * sizeof *s->corners);
    for (int64_t i = 0; s->corners && i < mesh->index_count; i++) {
        memcpy(s->corners + 3 * i, mesh->vertices[mesh->indices[i]].position, 3 * sizeof(float));
    }
    s->radius = 0.0f;
    for (int k = 0; k < 3; k++) {
        s->centre[k] = 0.5f * (mesh->low[k] + mesh->high[k]);
        s->radius = hypotf(s->radius, 0.5f * (mesh->high[k] - mesh->low[k]));
    }
    orr_mesh_destroy(mesh);
    return s->corners != NULL;
}

static bool build_ours(scene *s, double *seconds, orr_error *error)
{
    orr_isa isa;
    uint8_t *flags = malloc((size_t)s->count);
    if (!flags || orr_isa_choose(&isa, error) != ORR_OK) {
        free(flags);
        return false;
    }
    memset(flags, ORR_TRIANGLE_TWO_SIDED, (size_t)s->count);
    s->walk = orr_triangle_walk_of(isa);
    double start = cpu_seconds();
    orr_result result = orr_triangle_tree_build(s->corners, flags, s->count, &s->tree, error);
    *seconds = cpu_seconds() - start;
    free(flags);
    return result == ORR_OK;
}

static double build_embree(RTCDevice device, scene *s)
{
    double start = cpu_seconds();
    s->embree = rtcNewScene(device);
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    float *vertices = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                              3 * sizeof(float), 3 * (size_t)s->count);
    uint32_t *indices = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                                3 * sizeof(uint32_t), (size_t)s->count);
    memcpy(vertices, s->corners, (size_t)s->count * 9 * sizeof *vertices);
    for (int64_t i = 0; i < 3 * s->count; i++) {
        indices[i] = (uint32_t)i;
    }
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(s->embree, geometry);
    rtcReleaseGeometry(geometry);
    rtcCommitScene(s->embree);
    return cpu_seconds() - start;
}

static void free_trees(scene *s)
{
    if (s->embree) {
        rtcReleaseScene(s->embree);
        s->embree = NULL;
    }
    orr_triangle_tree_free(&s->tree);
}

// ---- rays through both: the number that hit, and the sum of their distances ----

typedef struct answer {
    int64_t hits;
    double distances;
} answer;

static answer trace_ours(const scene *s, const rays *r)
{
    answer a = {0};
    for (int i = 0; i < r->count; i++) {
        orr_ray_hit hit = {0};
        bool met = r->any ? s->walk->any(&s->tree, &r->rays[i], NULL)
                          : s->walk->nearest(&s->tree, &r->rays[i], false, NULL, &hit);
        a.hits += met;
        a.distances += met && !r->any ? (double)hit.distance : 0.0;
    }
    return a;
}

static struct RTCRay embree_ray(const orr_ray *ray)
{
    return (struct RTCRay){.org_x = ray->origin[0],
                           .org_y = ray->origin[1],
                           .org_z = ray->origin[2],
                           .dir_x = ray->direction[0],
                           .dir_y = ray->direction[1],
                           .dir_z = ray->direction[2],
                           .tnear = ray->near_end,
                           .tfar = ray->far_end,
                           .mask = UINT32_MAX};
}

static answer trace_embree(const scene *s, const rays *r)
{
    answer a = {0};
#if ORR_EMBREE_VERSION < 4
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    context.flags = r->any || strcmp(r->name, "primary") != 0 ? RTC_INTERSECT_CONTEXT_FLAG_INCOHERENT
                                                              : RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
#endif
    for (int i = 0; i < r->count; i++) {
        if (r->any) {
            struct RTCRay ray = embree_ray(&r->rays[i]);
#if ORR_EMBREE_VERSION < 4
            rtcOccluded1(s->embree, &context, &ray);
#else
            rtcOccluded1(s->embree, &ray, NULL);
#endif
            a.hits += ray.tfar < 0.0f;
        } else {
            struct RTCRayHit hit = {.ray = embree_ray(&r->rays[i]), .hit.geomID = RTC_INVALID_GEOMETRY_ID};
#if ORR_EMBREE_VERSION < 4
            rtcIntersect1(s->embree, &context, &hit);
#else
            rtcIntersect1(s->embree, &hit, NULL);
#endif
            bool met = hit.hit.geomID != RTC_INVALID_GEOMETRY_ID;
            a.hits += met;
            a.distances += met ? (double)hit.ray.tfar : 0.0;
        }
    }
    return a;
}

// ---- the rays ----

// From a camera in front of the mesh, row by row.
static bool primary_rays(const scene *s, rays *r)
{
    *r = (rays){"primary", malloc(sizeof(orr_ray) * SIDE * SIDE), SIDE * SIDE, false};
    for (int i = 0; r->rays && i < r->count; i++) {
        float x = ((float)(i % SIDE) + 0.5f) / SIDE - 0.5f, y = ((float)(i / SIDE) + 0.5f) / SIDE - 0.5f;
        float eye[3] = {1.2f, 0.8f, 1.6f}, forward[3], right[3], up[3] = {0.0f, 1.0f, 0.0f};
        for (int k = 0; k < 3; k++) {
            forward[k] = -eye[k];
        }
        make_unit(forward);
        vec3f_cross(forward, up, right);
        make_unit(right);
        vec3f_cross(right, forward, up);
        orr_ray *ray = &r->rays[i];
        ray->near_end = 0.0f;
        ray->far_end = INFINITY;
        for (int k = 0; k < 3; k++) {
            ray->origin[k] = s->centre[k] + s->radius * eye[k];
            ray->direction[k] = forward[k] + x * right[k] - y * up[k];
        }
        make_unit(ray->direction);
    }
    return r->rays != NULL;
}

// From where primary rays end: towards a lamp, or by Lambert's law.
static bool secondary_rays(const scene *s, const rays *primary, bool shadow, rays *r)
{
    *r = (rays){shadow ? "shadow" : "diffuse", malloc(sizeof(orr_ray) * SIDE * SIDE), 0, shadow};
    orr_rng random = {.seed = 1};
    for (int i = 0; r->rays && i < primary->count; i++) {
        orr_ray_hit hit;
        const orr_ray *from = &primary->rays[i];
        if (!s->walk->nearest(&s->tree, from, false, NULL, &hit)) {
            continue;
        }
        const float *p = s->corners + 9 * (size_t)hit.triangle;
        float ab[3], ac[3], normal[3], u[3];
        vec3f_subtract(p + 3, p, ab);
        vec3f_subtract(p + 6, p, ac);
        vec3f_cross(ab, ac, normal);
        make_unit(normal);
        float side = vec3f_dot(normal, from->direction) > 0.0f ? -1.0f : 1.0f;
        orr_ray *ray = &r->rays[r->count];
        for (int k = 0; k < 3; k++) {
            u[k] = orr_rng_range(&random, -1.0f, 1.0f);
        }
        make_unit(u);
        for (int k = 0; k < 3; k++) {
            float lamp = s->centre[k] + s->radius * (k == 1 ? 3.0f : 0.5f);
            ray->origin[k] = from->origin[k] + hit.distance * from->direction[k];
            ray->origin[k] += side * normal[k] * 1e-4f * s->radius;
            ray->direction[k] = shadow ? lamp - ray->origin[k] : side * normal[k] + 0.999f * u[k];
        }
        ray->near_end = 0.0f;
        ray->far_end = shadow ? 1.0f : INFINITY;
        r->count++;
    }
    return r->rays != NULL;
}

static void measure(const char *path, const scene *s, const rays *r)
{
    double ours = INFINITY, embree = INFINITY;
    answer a = {0}, b = {0};
    for (int round = 0; round < ROUNDS; round++) {
        double start = cpu_seconds();
        a = trace_ours(s, r);
        double between = cpu_seconds();
        b = trace_embree(s, r);
        embree = fmin(embree, cpu_seconds() - between);
        ours = fmin(ours, between - start);
    }
    printf("| %s | %s | %.2f | %.2f | %.2f | %.4f %% | %.1e |\n", path, r->name, r->count / ours * 1e-6,
           r->count / embree * 1e-6, embree / ours, 100.0 * fabs((double)(a.hits - b.hits)) / r->count,
           a.distances > 0.0 ? fabs(a.distances - b.distances) / a.distances : 0.0);
}

static int bench(RTCDevice device, const char *path)
{
    orr_error error;
    scene s = {0};
    if (!load(path, &s, &error)) {
        return fail(path, &error);
    }
    double ours = INFINITY, embree = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double seconds;
        free_trees(&s);
        if (!build_ours(&s, &seconds, &error)) {
            return fail(path, &error);
        }
        ours = fmin(ours, seconds);
        embree = fmin(embree, build_embree(device, &s));
    }
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    printf("| %s | build, M triangles/s | %.2f | %.2f | %.2f | | |\n", name, (double)s.count / ours * 1e-6,
           (double)s.count / embree * 1e-6, embree / ours);
    rays primary, shadow, diffuse;
    if (!primary_rays(&s, &primary) || !secondary_rays(&s, &primary, true, &shadow) ||
        !secondary_rays(&s, &primary, false, &diffuse)) {
        return 1;
    }
    measure(name, &s, &primary);
    measure(name, &s, &shadow);
    measure(name, &s, &diffuse);
    free(primary.rays);
    free(shadow.rays);
    free(diffuse.rays);
    free_trees(&s);
    free(s.corners);
    return 0;
}

int main(int count, char **values)
{
    if (count < 2) {
        fprintf(stderr, "usage: bench_rays MESH...\n");
        return 2;
    }
    RTCDevice device = rtcNewDevice("threads=1,set_affinity=0");
    printf("One thread, CPU time, the best of %d; M rays/s. Differences: rays that only one finds a triangle "
           "for, and sums of distances.\n\n",
           ROUNDS);
    printf(
        "| mesh | rays | Orrery | Embree %d.%d | ratio | hits | distances |\n|---|---|---|---|---|---|---|\n",
        RTC_VERSION_MAJOR, RTC_VERSION_MINOR);
    int result = 0;
    for (int i = 1; i < count && result == 0; i++) {
        result = bench(device, values[i]);
    }
    rtcReleaseDevice(device);
    return result;
}
