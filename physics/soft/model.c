// A soft body's description, checked, with what follows from its rest state.
#include "physics/soft/model.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "physics/soft/mesh/flat_elements.h"

#include <math.h>
#include <string.h>

const int orr_soft_tet_order[4][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};

void orr_soft_tet_rows(const orr_soft_model *m, int tet, int corner, double rows[9])
{
    const double *inverse = m->tet_inverse + (size_t)tet * 9;
    for (int k = 0; k < 3; k++) {
        int other = orr_soft_tet_order[corner][k + 1];
        for (int c = 0; c < 3; c++) {
            rows[k * 3 + c] =
                other > 0 ? inverse[(other - 1) * 3 + c] : -(inverse[c] + inverse[3 + c] + inverse[6 + c]);
        }
    }
}

void orr_soft_triangle_rows(const orr_soft_model *m, int triangle, int corner, double rows[4])
{
    const double *inverse = m->triangle_inverse + (size_t)triangle * 4;
    for (int k = 0; k < 2; k++) {
        int other = (corner + k + 1) % 3;
        for (int c = 0; c < 2; c++) {
            rows[k * 2 + c] = other > 0 ? inverse[(other - 1) * 2 + c] : -(inverse[c] + inverse[2 + c]);
        }
    }
}

static void difference(const orr_soft_model *m, int32_t a, int32_t b, double d[3]) // b - a, at rest
{
    const double *from = m->rest + (size_t)a * 3, *to = m->rest + (size_t)b * 3;
    for (int c = 0; c < 3; c++) {
        d[c] = to[c] - from[c];
    }
}

static orr_result check_material(const orr_soft_material *material, const char *name, const char *kind,
                                 orr_error *error)
{
    const struct {
        const char *what, *expected;
        double value;
        bool good;
    } number[] = {
        {"density", "above 0 kg/m^3", material->density, material->density > 0.0},
        {"Young's modulus", "at least 0 Pa", material->young, material->young >= 0.0},
        {"Poisson's ratio", "at least 0 and below 0.5", material->poisson,
         material->poisson >= 0.0 && material->poisson < 0.5},
        {"damping", "at least 0 s", material->damping, material->damping >= 0.0},
    };
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++) {
        if (!number[i].good || !isfinite(number[i].value)) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "%s: %s of %s: expected %s, not %g", name,
                            number[i].what, kind, number[i].expected, number[i].value);
        }
    }
    return ORR_OK;
}

static orr_result check_size(double size, const char *name, const char *what, orr_error *error)
{
    return size > 0.0 && isfinite(size)
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "%s: %s: expected above 0 m, not %g", name, what, size);
}

static orr_result check_indices(const int32_t *index, int count, int corners, int vertices, const char *name,
                                const char *kind, orr_error *error)
{
    for (int i = 0; i < count * corners; i++) {
        if (index[i] < 0 || index[i] >= vertices) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "%s: %s %d: expected vertices below %d, not %d", name,
                            kind, i / corners, vertices, index[i]);
        }
    }
    return ORR_OK;
}

// Are its edges springs with numbers of their own, not ropes of a material?
static bool has_own_edges(const orr_soft_spec *s)
{
    return s->hold || s->edge_stiffness > 0.0 || s->edge_viscosity > 0.0;
}

static orr_result check_spec(const orr_soft_spec *s, orr_error *error)
{
    const int most = 1 << 27; // indices of numbers stay within 31 bits
    if (s->vertices < 1 || s->vertices > most) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: vertices: expected 1 to %d, not %d", s->name, most,
                        s->vertices);
    }
    const int count[] = {s->tets, s->triangles, s->edges, s->pins};
    const int corners[] = {4, 3, 2, 1};
    const char *const kind[] = {"tet", "triangle", "edge", "pin"};
    const int32_t *const index[] = {s->tet, s->triangle, s->edge, s->pin};
    for (int k = 0; k < 4; k++) {
        if (count[k] < 0 || count[k] > most) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "%s: number of %ss: expected 0 to %d, not %d", s->name,
                            kind[k], most, count[k]);
        }
        ORR_TRY(check_indices(index[k], count[k], corners[k], s->vertices, s->name, kind[k], error));
    }
    for (int i = 0; i < s->vertices * 3; i++) {
        if (!isfinite(s->vertex[i])) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "%s: vertex %d: expected finite coordinates, not %g",
                            s->name, i / 3, s->vertex[i]);
        }
    }
    if (!(s->yield_stress >= 0.0 && s->flow >= 0.0) || !isfinite(s->yield_stress + s->flow)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: yield: expected a stress and a rate of at least 0, not %g Pa and %g 1/s",
                        s->name, s->yield_stress, s->flow);
    }
    if (s->tets > 0) {
        ORR_TRY(check_material(&s->solid, s->name, "the solid", error));
    }
    if (s->triangles > 0) {
        ORR_TRY(check_material(&s->cloth, s->name, "the cloth", error));
        ORR_TRY(check_size(s->cloth_thickness, s->name, "thickness of the cloth", error));
    }
    if (!(s->edge_stiffness >= 0.0 && s->edge_viscosity >= 0.0) ||
        !isfinite(s->edge_stiffness + s->edge_viscosity)) {
        return orr_fail(
            error, ORR_CODE_ARGUMENT,
            "%s: edges: expected a stiffness and a viscosity of at least 0, not %g N/m and %g N s/m", s->name,
            s->edge_stiffness, s->edge_viscosity);
    }
    if (s->hold && !s->mass) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: edges that are held: expected masses of vertices",
                        s->name);
    }
    if (s->edges > 0 && !has_own_edges(s)) {
        ORR_TRY(check_material(&s->rope, s->name, "the rope", error));
        ORR_TRY(check_size(s->rope_radius, s->name, "radius of the rope", error));
    }
    return ORR_OK;
}

static void share_mass(orr_soft_model *m, const int32_t *corner, int corners, double mass)
{
    for (int k = 0; k < corners; k++) {
        m->mass[corner[k]] += mass / corners;
    }
}

static orr_result build_tets(orr_soft_model *m, const orr_soft_spec *s, orr_error *error)
{
    const orr_soft_material *a = &s->solid;
    m->solid.mu = a->young / (2.0 * (1.0 + a->poisson));
    m->solid.l = a->young * a->poisson / ((1.0 + a->poisson) * (1.0 - 2.0 * a->poisson)) + m->solid.mu;
    m->solid.alpha = 1.0 + (a->young > 0.0 ? m->solid.mu / m->solid.l : 0.0);
    m->yield_stress = s->yield_stress, m->flow = s->flow;
    m->solid.eta = 0.5 * a->damping * m->solid.mu; // C' is twice the strain rate, and acts from both sides
    for (int t = 0; t < m->tets; t++) {
        const int32_t *corner = m->tet + (size_t)t * 4;
        double *inverse = m->tet_inverse + (size_t)t * 9, d[3][3], c[3][3];
        for (int k = 0; k < 3; k++) {
            difference(m, corner[0], corner[k + 1], d[k]);
        }
        for (int k = 0; k < 3; k++) {
            vec3_cross(d[(k + 1) % 3], d[(k + 2) % 3], c[k]);
        }
        double determinant = vec3_dot(d[0], c[0]);
        if (tet_is_flat(d[0], determinant)) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "%s: tet %d (vertices %d %d %d %d): expected a volume above 0, not %g m^3 (%s)",
                            s->name, t, corner[0], corner[1], corner[2], corner[3], determinant / 6.0,
                            determinant < 0.0 ? "inverted" : "degenerate");
        }
        for (int k = 0; k < 9; k++) {
            inverse[k] = c[k / 3][k % 3] / determinant;
        }
        m->tet_volume[t] = determinant / 6.0;
        share_mass(m, corner, 4, a->density * m->tet_volume[t]);
    }
    return ORR_OK;
}

static orr_result build_triangles(orr_soft_model *m, const orr_soft_spec *s, orr_error *error)
{
    const orr_soft_material *a = &s->cloth;
    double t = s->cloth_thickness;
    const double membrane = s->cloth_without_membrane ? 0.0 : t;
    m->cloth.mu = membrane * a->young / (2.0 * (1.0 + a->poisson));
    m->cloth.l =
        membrane * a->young * a->poisson / (1.0 - a->poisson * a->poisson) + m->cloth.mu; // plane stress
    m->cloth.alpha = 1.0 + (m->cloth.l > 0.0 ? m->cloth.mu / m->cloth.l : 0.0);
    m->cloth.eta = 0.5 * a->damping * m->cloth.mu;
    for (int i = 0; i < m->triangles; i++) {
        const int32_t *corner = m->triangle + (size_t)i * 3;
        double e1[3], e2[3], n[3];
        difference(m, corner[0], corner[1], e1);
        difference(m, corner[0], corner[2], e2);
        vec3_cross(e1, e2, n);
        double twice_area = sqrt(vec3_dot(n, n)), x = sqrt(vec3_dot(e1, e1));
        if (triangle_is_flat(e1, e2, twice_area)) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "%s: triangle %d (vertices %d %d %d): expected an area above 0, not %g m^2",
                            s->name, i, corner[0], corner[1], corner[2], 0.5 * twice_area);
        }
        // in the frame whose first axis is e1: e1 = (x, 0), e2 = (u, v)
        double u = vec3_dot(e1, e2) / x, v = twice_area / x;
        const double inverse[4] = {1.0 / x, -u / (x * v), 0.0, 1.0 / v};
        memcpy(m->triangle_inverse + (size_t)i * 4, inverse, sizeof inverse);
        m->triangle_area[i] = 0.5 * twice_area;
        share_mass(m, corner, 3, a->density * t * m->triangle_area[i]);
    }
    return ORR_OK;
}

// Of a plate of the cloth's thickness, N m.
static double plate_of(const orr_soft_spec *s)
{
    const double t = s->cloth_without_bending ? 0.0 : s->cloth_thickness, nu = s->cloth.poisson;
    return s->cloth.young * t * t * t / (12.0 * (1.0 - nu * nu));
}

// About how stiff a held edge is at rest in a step of the usual length, N/m: by its inertia, above all.
static double held_stiffness(const orr_soft_hold *h, double mass)
{
    const double rate = 240.0; // 1/s
    return mass * h->high / (1.0 - h->high) * (h->high * h->stiffness + rate * (rate + h->damping));
}

static orr_result build_edges(orr_soft_model *m, const orr_soft_spec *s, orr_error *error)
{
    const bool own = has_own_edges(s);
    double section = 3.14159265358979323846 * s->rope_radius * s->rope_radius;
    for (int i = 0; i < m->edges; i++) {
        const int32_t *corner = m->edge + (size_t)i * 2;
        double d[3];
        difference(m, corner[0], corner[1], d);
        double length = sqrt(vec3_dot(d, d));
        if (!(length > 0.0)) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "%s: edge %d (vertices %d %d): expected a length above 0, not %g m", s->name, i,
                            corner[0], corner[1], length);
        }
        m->edge_length[i] = length;
        m->edge_stiffness[i] = s->hold ? held_stiffness(s->hold, s->mass[corner[0]])
                               : own   ? s->edge_stiffness
                                       : s->rope.young * section / length;
        m->edge_viscosity[i] = own ? s->edge_viscosity : s->rope.damping * m->edge_stiffness[i];
        m->edges_damped |= m->edge_viscosity[i] > 0.0;
        share_mass(m, corner, 2, own ? 0.0 : s->rope.density * section * length);
    }
    return ORR_OK;
}

static orr_result check_masses(orr_soft_model *m, const orr_soft_spec *s, orr_error *error)
{
    for (int v = 0; v < m->vertices; v++) {
        m->mass[v] = s->mass ? s->mass[v] : m->mass[v];
        if (!(m->mass[v] > 0.0 && isfinite(m->mass[v]))) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "%s: vertex %d: expected a mass above 0 kg, not %g, %s",
                            s->name, v, m->mass[v], s->mass ? "of its own" : "of an element it belongs to");
        }
    }
    return ORR_OK;
}

static orr_result build(orr_soft_model *m, const orr_soft_spec *s, orr_error *error)
{
    m->vertices = s->vertices, m->tets = s->tets, m->triangles = s->triangles, m->edges = s->edges;
    size_t vertices = (size_t)s->vertices, tets = (size_t)s->tets;
    size_t triangles = (size_t)s->triangles, edges = (size_t)s->edges;
    const char *what = "a soft model";
    ORR_ALLOC(m->rest, vertices * 3, what, error);
    ORR_ALLOC(m->colour, vertices, what, error);
    ORR_ALLOC(m->tet, tets * 4, what, error);
    ORR_ALLOC(m->tet_inverse, tets * 9, what, error);
    ORR_ALLOC(m->tet_volume, tets, what, error);
    ORR_ALLOC(m->triangle, triangles * 3, what, error);
    ORR_ALLOC(m->triangle_inverse, triangles * 4, what, error);
    ORR_ALLOC(m->triangle_area, triangles, what, error);
    ORR_ALLOC(m->edge, edges * 2, what, error);
    ORR_ALLOC(m->edge_length, edges, what, error);
    ORR_ALLOC(m->edge_stiffness, edges, what, error);
    ORR_ALLOC(m->edge_viscosity, edges, what, error);
    m->mass = orr_alloc_zero(vertices, sizeof *m->mass);
    m->pinned = orr_alloc_zero(vertices, 1);
    if (!m->mass || !m->pinned) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", what);
    }
    memcpy(m->rest, s->vertex, vertices * 3 * sizeof *m->rest);
    for (size_t i = 0; i < tets * 4; i++) {
        m->tet[i] = s->tet[i];
    }
    for (size_t i = 0; i < triangles * 3; i++) {
        m->triangle[i] = s->triangle[i];
    }
    for (size_t i = 0; i < edges * 2; i++) {
        m->edge[i] = s->edge[i];
    }
    m->edges_held = s->hold != NULL;
    m->hold = s->hold ? *s->hold : m->hold;
    ORR_TRY(build_tets(m, s, error));
    ORR_TRY(build_triangles(m, s, error));
    ORR_TRY(build_edges(m, s, error));
    ORR_TRY(orr_soft_find_hinges(m, s->name, error));
    ORR_TRY(orr_soft_find_bends(m, plate_of(s), error));
    m->bending_damping = s->cloth.damping;
    ORR_TRY(orr_soft_fill(m, s, error));
    ORR_TRY(check_masses(m, s, error));
    for (int i = 0; i < s->pins; i++) {
        m->pinned[s->pin[i]] = 1;
    }
    ORR_TRY(orr_soft_find_surface(m, error));
    ORR_TRY(orr_soft_find_patches(m, error));
    return orr_soft_colour(m, error);
}

orr_result orr_soft_model_create(const orr_soft_spec *spec, orr_soft_model **model, orr_error *error)
{
    *model = NULL;
    ORR_TRY(check_spec(spec, error));
    orr_soft_model *m = orr_alloc_zero(1, sizeof *m);
    if (!m) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a soft model");
    }
    orr_result result = build(m, spec, error);
    if (result != ORR_OK) {
        orr_soft_model_destroy(m);
        return result;
    }
    *model = m;
    return ORR_OK;
}

void orr_soft_model_destroy(orr_soft_model *m)
{
    if (m) {
        void *const arrays[] = {m->rest,           m->mass,        m->pinned,
                                m->colour,         m->tet,         m->tet_inverse,
                                m->tet_volume,     m->triangle,    m->triangle_inverse,
                                m->triangle_area,  m->hinge,       m->hinge_stiffness,
                                m->hinge_angle,    m->bend,        m->bend_stiffness,
                                m->edge,           m->edge_length, m->edge_stiffness,
                                m->edge_viscosity, m->surface,     m->surface_of,
                                m->touchable,      m->rim,         m->patch,
                                m->patch_triangle, m->patch_vertex};
        for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
            orr_free(arrays[i]);
        }
        orr_free(m);
    }
}

const double *orr_soft_masses(const orr_soft_model *model)
{
    return model->mass;
}

double orr_soft_stiffness(const orr_soft_model *m)
{
    double stiffness = m->tets > 0 ? (m->solid.mu + m->solid.l) * m->spacing : 0.0, mass = 0.0;
    stiffness = fmax(stiffness, m->triangles > 0 ? m->cloth.mu + m->cloth.l : 0.0);
    for (int i = 0; i < m->edges; i++) {
        stiffness = fmax(stiffness, m->edge_stiffness[i]);
    }
    for (int v = 0; v < m->vertices; v++) {
        mass += m->mass[v];
    }
    return stiffness * m->vertices / mass;
}

const int32_t *orr_soft_surface_elements(const orr_soft_model *m)
{
    return m->surface_of;
}

const int32_t *orr_soft_surface(const orr_soft_model *model, int *count)
{
    *count = model->surfaces;
    return model->surface;
}
