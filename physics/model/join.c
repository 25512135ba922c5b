#include "physics/model/join.h"

#include "engine/core/memory.h"
#include "engine/maths/rotation.h"
#include "physics/model/compile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Lists of elements and of numbers that are joined; the others are left out.
#define JOINED(X)                                                                                            \
    X(nq)                                                                                                    \
    X(nv)                                                                                                    \
    X(nu)                                                                                                    \
    X(nactuator)                                                                                             \
    X(nout)                                                                                                  \
    X(na)                                                                                                    \
    X(nbody)                                                                                                 \
    X(njnt)                                                                                                  \
    X(ntree)                                                                                                 \
    X(nM)                                                                                                    \
    X(ncable)                                                                                                \
    X(nflexcell)                                                                                             \
    X(nflexcellnode)                                                                                         \
    X(nflexstiffness)                                                                                        \
    X(nflexmode)                                                                                             \
    X(nflextouch)                                                                                            \
    X(nflexpoint)                                                                                            \
    X(nflexelement)                                                                                          \
    X(nflexgrid)                                                                                             \
    X(nflexweight)                                                                                           \
    X(ngeom)                                                                                                 \
    X(nsite)                                                                                                 \
    X(ncam)                                                                                                  \
    X(nmesh)                                                                                                 \
    X(nmeshvert)                                                                                             \
    X(nmeshface)                                                                                             \
    X(nhullvert)                                                                                             \
    X(nhullface)                                                                                             \
    X(nhulledge)                                                                                             \
    X(noctree)                                                                                               \
    X(nhfield)                                                                                               \
    X(ngrid)                                                                                                 \
    X(ngridbrick)                                                                                            \
    X(ngridcorner)                                                                                           \
    X(ngridsample)                                                                                           \
    X(nhfielddata)                                                                                           \
    X(nmat)                                                                                                  \
    X(npair)                                                                                                 \
    X(nexclude)                                                                                              \
    X(neq)                                                                                                   \
    X(ntendon)                                                                                               \
    X(nwrap)                                                                                                 \
    X(nsensor)                                                                                               \
    X(ntaxel)                                                                                                \
    X(nsensordata)                                                                                           \
    X(nmocap)                                                                                                \
    X(nplastic)                                                                                              \
    X(ndelayed)

#define LEFT_OUT(X)                                                                                          \
    X(nflex)                                                                                                 \
    X(nflexvert)                                                                                             \
    X(nflexelemdata)                                                                                         \
    X(nflexnode)                                                                                             \
    X(nlight)                                                                                                \
    X(ntex)                                                                                                  \
    X(ntexdata)                                                                                              \
    X(nnumeric)                                                                                              \
    X(nnumericdata)                                                                                          \
    X(ntext)                                                                                                 \
    X(ntextdata)                                                                                             \
    X(ntuple)                                                                                                \
    X(ntupledata)                                                                                            \
    X(nkey)

// Widths of rows: the largest of all parts.
#define WIDTHS(X)                                                                                            \
    X(nuserdata)                                                                                             \
    X(nuser_body)                                                                                            \
    X(nuser_jnt)                                                                                             \
    X(nuser_geom)                                                                                            \
    X(nuser_site)                                                                                            \
    X(nuser_cam)                                                                                             \
    X(nuser_tendon)                                                                                          \
    X(nuser_actuator)                                                                                        \
    X(nuser_sensor)

#define SIZE_NAMED(name) SIZE_##name,
#define SIZE_PLACED(name) PLACED_##name,
enum { ORR_MODEL_SIZES(SIZE_NAMED) SIZE_COUNT };
enum { JOINED(SIZE_PLACED) LEFT_OUT(SIZE_PLACED) WIDTHS(SIZE_PLACED) PLACED_nnames, PLACED_COUNT };
_Static_assert((int)SIZE_COUNT == (int)PLACED_COUNT,
               "a new size of the model: is it joined, left out or a width? (nnames is computed)");

// Arrays of integers: the functions move_ change those that hold indices.
#define INTEGER_int32_t(name) char name;
#define INTEGER_double(name)
#define INTEGER_float(name)
#define INTEGER_uint8_t(name)
#define INTEGER_char(name)
#define INTEGER_ARRAY(type, name, rows, columns) INTEGER_##type(name)
typedef struct integer_arrays {
    ORR_MODEL_ARRAYS(INTEGER_ARRAY)
} integer_arrays;
_Static_assert(sizeof(integer_arrays) == 198,
               "a new array of integers: if it holds indices, move them; then correct the count");

#define KIND(name) KIND_##name,
typedef enum list_kind { JOINED(KIND) KIND_COUNT } list_kind;

typedef struct joining {
    orr_model *to;
    const orr_model_part *part; // the one that is added
    orr_model_place place;      // of it
    int32_t first[KIND_COUNT];  // of its elements, but those of the world:
    // geoms, sites and cameras of the world come before all others
    int32_t world_first[KIND_COUNT], world_count[KIND_COUNT];
} joining;

// The list that an array's rows are of, as ORR_MODEL_ARRAYS writes it; KIND_COUNT: it is left out.
static list_kind kind_of(const char *rows)
{
    static const char *const names[] = {
#define NAME(name) "m->" #name,
        JOINED(NAME)};
    int kind = 0;
    while (kind < KIND_COUNT && strcmp(rows, names[kind]) != 0) {
        kind++;
    }
    return (list_kind)kind;
}

static int moved(const joining *j, list_kind kind, int index)
{
    if (index < 0 || (kind == KIND_nbody && index == 0)) {
        return index;
    }
    int world = kind == KIND_nbody ? 1 : j->world_count[kind];
    return index < world ? j->world_first[kind] + index : j->first[kind] + index - world;
}

static void copy_rows(const joining *j, const char *rows_of, char *to, size_t to_bytes, const char *from,
                      size_t from_bytes, int rows)
{
    list_kind kind = kind_of(rows_of);
    for (int i = 0; i < rows && kind < KIND_COUNT; i++) {
        bool shared =
            kind == KIND_nbody && i == 0 && j->place.body > 1; // the world has the first part's numbers
        if (!shared) {
            memcpy(to + (size_t)moved(j, kind, i) * to_bytes, from + (size_t)i * from_bytes, from_bytes);
        }
    }
}

static void copy_arrays(const joining *j)
{
#define COPY(type, name, rows, columns)                                                                      \
    {                                                                                                        \
        const orr_model *m = j->to;                                                                          \
        size_t to_bytes = (size_t)(columns) * sizeof(type);                                                  \
        m = j->part->model;                                                                                  \
        copy_rows(j, #rows, (char *)j->to->name, to_bytes, (const char *)m->name,                            \
                  (size_t)(columns) * sizeof(type), (int)(rows));                                            \
    }
    ORR_MODEL_ARRAYS(COPY)
}

// ---- indices

static int object_of(const joining *j, int object_kind, int id)
{
    switch (object_kind) {
    case ORR_OBJECT_BODY:
    case ORR_OBJECT_XBODY:
        return moved(j, KIND_nbody, id);
    case ORR_OBJECT_JOINT:
        return moved(j, KIND_njnt, id);
    case ORR_OBJECT_GEOM:
        return moved(j, KIND_ngeom, id);
    case ORR_OBJECT_SITE:
        return moved(j, KIND_nsite, id);
    case ORR_OBJECT_CAMERA:
        return moved(j, KIND_ncam, id);
    case ORR_OBJECT_TENDON:
        return moved(j, KIND_ntendon, id);
    case ORR_OBJECT_ACTUATOR:
        return moved(j, KIND_nactuator, id);
    case ORR_OBJECT_SENSOR:
        return moved(j, KIND_nsensor, id);
    case ORR_OBJECT_EQUALITY:
        return moved(j, KIND_neq, id);
    case ORR_OBJECT_MESH:
        return moved(j, KIND_nmesh, id);
    case ORR_OBJECT_HFIELD:
        return moved(j, KIND_nhfield, id);
    case ORR_OBJECT_MATERIAL:
        return moved(j, KIND_nmat, id);
    case ORR_OBJECT_PAIR:
        return moved(j, KIND_npair, id);
    case ORR_OBJECT_EXCLUDE:
        return moved(j, KIND_nexclude, id);
    default:
        return id < 0 ? id : -1; // what is left out
    }
}

#define MOVE(list, array, columns, target)                                                                   \
    for (int i = 0; i < from->list * (columns); i++) {                                                       \
        int at = moved(j, KIND_##list, i / (columns)) * (columns) + i % (columns);                           \
        j->to->array[at] = moved(j, KIND_##target, from->array[i]);                                          \
    }

static int signature_of(const joining *j, int signature)
{
    int body1 = moved(j, KIND_nbody, signature >> 16), body2 = moved(j, KIND_nbody, signature & 0xffff);
    return body1 * 65536 + body2;
}

static int data_of(const joining *j, int geom)
{
    const orr_model *from = j->part->model;
    int type = from->geom_type[geom];
    return moved(j,
                 type == ORR_GEOM_SDF && !from->geom_function[geom] ? KIND_ngrid
                 : type == ORR_GEOM_HFIELD                          ? KIND_nhfield
                                                                    : KIND_nmesh,
                 from->geom_dataid[geom]);
}

static void move_bodies(const joining *j)
{
    const orr_model *from = j->part->model;
    MOVE(nbody, body_parentid, 1, nbody)
    MOVE(nbody, body_rootid, 1, nbody)
    MOVE(nbody, body_weldid, 1, nbody)
    MOVE(nbody, body_mocapid, 1, nmocap)
    MOVE(nbody, body_jntadr, 1, njnt)
    MOVE(nbody, body_dofadr, 1, nv)
    MOVE(nbody, body_treeid, 1, ntree)
    MOVE(nbody, body_geomadr, 1, ngeom)
    MOVE(njnt, jnt_qposadr, 1, nq)
    MOVE(njnt, jnt_dofadr, 1, nv)
    MOVE(njnt, jnt_bodyid, 1, nbody)
    MOVE(njnt, jnt_plasticadr, 1, nplastic)
    MOVE(ncable, cable_jntid, 1, njnt)
    MOVE(nflexcell, flexcell_nodeadr, 1, nflexcellnode)
    MOVE(nflexcell, flexcell_stiffnessadr, 1, nflexstiffness)
    MOVE(nflexcell, flexcell_modeadr, 1, nflexmode)
    MOVE(nflexcellnode, flexcell_bodyid, 1, nbody)
    MOVE(nflextouch, flextouch_gridadr, 1, nflexgrid)
    MOVE(nflexgrid, flexgrid_bodyid, 1, nbody)
    MOVE(nflexpoint, flexpoint_touchid, 1, nflextouch)
    MOVE(nflexpoint, flexpoint_weightadr, 1, nflexweight)
    MOVE(nflexweight, flexweight_bodyid, 1, nbody)
    MOVE(nflexelement, flexelement_touchid, 1, nflextouch)
    MOVE(nflexelement, flexelement_point, 4, nflexpoint)
    MOVE(nv, dof_bodyid, 1, nbody)
    MOVE(nv, dof_jntid, 1, njnt)
    MOVE(nv, dof_parentid, 1, nv)
    MOVE(nv, dof_treeid, 1, ntree)
    MOVE(nv, M_rowadr, 1, nM)
    MOVE(nM, M_colind, 1, nv)
    MOVE(ngeom, geom_bodyid, 1, nbody)
    MOVE(ngeom, geom_matid, 1, nmat)
    MOVE(nsite, site_bodyid, 1, nbody)
    MOVE(nsite, site_matid, 1, nmat)
    MOVE(ncam, cam_bodyid, 1, nbody)
    MOVE(ncam, cam_targetbodyid, 1, nbody)
    for (int i = 0; i < from->ngeom; i++) {
        j->to->geom_dataid[moved(j, KIND_ngeom, i)] = data_of(j, i);
    }
}

static void move_assets(const joining *j)
{
    const orr_model *from = j->part->model;
    MOVE(nmesh, mesh_vertadr, 1, nmeshvert)
    MOVE(nmesh, mesh_faceadr, 1, nmeshface)
    MOVE(nmesh, mesh_hullvertadr, 1, nhullvert)
    MOVE(nmesh, mesh_hullfaceadr, 1, nhullface)
    MOVE(nmesh, mesh_octreeadr, 1, noctree)
    MOVE(nhullvert, hull_edgeadr, 1, nhulledge)
    MOVE(nhfield, hfield_adr, 1, nhfielddata)
    MOVE(ngrid, grid_brickadr, 1, ngridbrick)
    MOVE(ngrid, grid_corneradr, 1, ngridcorner)
    MOVE(ngrid, grid_sampleadr, 1, ngridsample)
    for (int i = 0; i < from->nmat; i++) {
        j->to->mat_texid[moved(j, KIND_nmat, i)] = -1;
    }
}

static void move_constraints(const joining *j)
{
    const orr_model *from = j->part->model;
    MOVE(npair, pair_geom1, 1, ngeom)
    MOVE(npair, pair_geom2, 1, ngeom)
    for (int i = 0; i < from->npair; i++) {
        j->to->pair_signature[moved(j, KIND_npair, i)] = signature_of(j, from->pair_signature[i]);
    }
    for (int i = 0; i < from->nexclude; i++) {
        j->to->exclude_signature[moved(j, KIND_nexclude, i)] = signature_of(j, from->exclude_signature[i]);
    }
    for (int i = 0; i < from->neq; i++) {
        int at = moved(j, KIND_neq, i);
        int kind = from->eq_type[i] == ORR_EQUALITY_JOINT    ? ORR_OBJECT_JOINT
                   : from->eq_type[i] == ORR_EQUALITY_TENDON ? ORR_OBJECT_TENDON
                                                             : from->eq_objtype[i];
        if (from->eq_type[i] == ORR_EQUALITY_FLEXSTRAIN) {
            j->to->eq_obj1id[at] = moved(j, KIND_nflexcell, from->eq_obj1id[i]);
            continue;
        }
        j->to->eq_obj1id[at] = object_of(j, kind, from->eq_obj1id[i]);
        j->to->eq_obj2id[at] = object_of(j, kind, from->eq_obj2id[i]);
    }
    MOVE(ntendon, tendon_adr, 1, nwrap)
    MOVE(ntendon, tendon_plasticadr, 1, nplastic)
    MOVE(ntendon, tendon_matid, 1, nmat)
    for (int i = 0; i < from->nwrap; i++) {
        int at = moved(j, KIND_nwrap, i), type = from->wrap_type[i];
        bool geom = type == ORR_WRAP_SPHERE || type == ORR_WRAP_CYLINDER;
        int kind = type == ORR_WRAP_JOINT ? ORR_OBJECT_JOINT : geom ? ORR_OBJECT_GEOM : ORR_OBJECT_SITE;
        j->to->wrap_objid[at] = object_of(j, kind, from->wrap_objid[i]);
        if (geom) { // the side site
            j->to->wrap_prm[at] = moved(j, KIND_nsite, (int)from->wrap_prm[i]);
        }
    }
}

static int transmission_object(const orr_model *m, int actuator)
{
    switch (m->actuator_trntype[actuator]) {
    case ORR_TRANSMISSION_TENDON:
        return ORR_OBJECT_TENDON;
    case ORR_TRANSMISSION_SO3:
        return m->actuator_trnid[2 * actuator + 1] < 0 ? ORR_OBJECT_JOINT : ORR_OBJECT_SITE;
    case ORR_TRANSMISSION_SITE:
    case ORR_TRANSMISSION_SLIDERCRANK:
        return ORR_OBJECT_SITE;
    case ORR_TRANSMISSION_BODY:
        return ORR_OBJECT_BODY;
    default:
        return ORR_OBJECT_JOINT;
    }
}

static void move_actuators(const joining *j)
{
    const orr_model *from = j->part->model;
    MOVE(nactuator, actuator_actadr, 1, na)
    MOVE(nactuator, actuator_ctrladr, 1, nu)
    MOVE(nactuator, actuator_outadr, 1, nout)
    MOVE(nactuator, actuator_delayadr, 1, ndelayed)
    for (int i = 0; i < 2 * from->nactuator; i++) {
        int kind = transmission_object(from, i / 2);
        j->to->actuator_trnid[2 * moved(j, KIND_nactuator, i / 2) + i % 2] =
            object_of(j, kind, from->actuator_trnid[i]);
    }
    MOVE(nsensor, sensor_adr, 1, nsensordata)
    MOVE(nsensor, sensor_delayadr, 1, ndelayed)
    MOVE(nsensor, sensor_taxeladr, 1, ntaxel)
    for (int i = 0; i < from->nsensor; i++) {
        int at = moved(j, KIND_nsensor, i);
        j->to->sensor_objid[at] = object_of(j, from->sensor_objtype[i], from->sensor_objid[i]);
        j->to->sensor_refid[at] = object_of(j, from->sensor_reftype[i], from->sensor_refid[i]);
    }
}

// ---- places in the world

static void place_point(const orr_model_part *part, double point[3])
{
    quat_apply(part->quat, point, point);
    for (int k = 0; k < 3; k++) {
        point[k] += part->pos[k];
    }
}

static void place_poses(const joining *j)
{
    const orr_model *from = j->part->model;
    const double *pos = j->part->pos, *quat = j->part->quat;
    orr_model *to = j->to;
    for (int i = 1; i < from->nbody; i++) {
        int at = moved(j, KIND_nbody, i);
        if (from->body_parentid[i] == 0) {
            frame_compose(pos, quat, to->body_pos + 3 * at, to->body_quat + 4 * at);
        }
    }
    for (int i = 0; i < from->ngeom; i++) {
        int at = moved(j, KIND_ngeom, i);
        if (from->geom_bodyid[i] == 0) {
            frame_compose(pos, quat, to->geom_pos + 3 * at, to->geom_quat + 4 * at);
        }
    }
    for (int i = 0; i < from->nsite; i++) {
        int at = moved(j, KIND_nsite, i);
        if (from->site_bodyid[i] == 0) {
            frame_compose(pos, quat, to->site_pos + 3 * at, to->site_quat + 4 * at);
        }
    }
    for (int i = 0; i < from->ncam; i++) {
        int at = moved(j, KIND_ncam, i);
        if (from->cam_bodyid[i] == 0) {
            frame_compose(pos, quat, to->cam_pos + 3 * at, to->cam_quat + 4 * at);
        }
    }
    for (int i = 0; i < from->nflexcellnode; i++) { // nodes that the world holds
        if (from->flexcell_bodyid[i] == 0) {
            place_point(j->part, to->flexcell_node + 3 * (ptrdiff_t)moved(j, KIND_nflexcellnode, i));
        }
    }
    for (int i = 0; i < from->nflexweight; i++) {
        if (from->flexweight_bodyid[i] == 0) {
            place_point(j->part, to->flexweight_node + 3 * (ptrdiff_t)moved(j, KIND_nflexweight, i));
        }
    }
    for (int i = 0; i < from->njnt; i++) {
        if (from->jnt_type[i] == ORR_JOINT_FREE) {
            double *start = to->qpos0 + j->place.qpos + from->jnt_qposadr[i];
            double *rest = to->qpos_spring + j->place.qpos + from->jnt_qposadr[i];
            frame_compose(pos, quat, start, start + 3);
            frame_compose(pos, quat, rest, rest + 3);
        }
    }
}

// Points and poses that connect and weld have in the world's frame.
static void place_equalities(const joining *j)
{
    const orr_model *from = j->part->model;
    double back_quat[4];
    quat_conjugate(j->part->quat, back_quat);
    for (int i = 0; i < from->neq; i++) {
        double *data = j->to->eq_data + ORR_NEQDATA * moved(j, KIND_neq, i);
        double turned[4] = {1.0, 0.0, 0.0, 0.0}; // of a point
        bool bodies = from->eq_objtype[i] == ORR_OBJECT_BODY;
        bool first = from->eq_obj1id[i] == 0, second = from->eq_obj2id[i] == 0;
        if (bodies && from->eq_type[i] == ORR_EQUALITY_CONNECT && (first || second)) {
            frame_compose(j->part->pos, j->part->quat, data + (first ? 0 : 3), turned);
        } else if (bodies && from->eq_type[i] == ORR_EQUALITY_WELD && first) {
            frame_compose(j->part->pos, j->part->quat, data + 3, data + 6);
        } else if (bodies && from->eq_type[i] == ORR_EQUALITY_WELD && second) {
            frame_compose(j->part->pos, j->part->quat, data, turned); // data + 3 is a point of the other body
            quat_multiply(data + 6, back_quat, turned);
            memcpy(data + 6, turned, sizeof turned);
        }
    }
}

// ---- names

#define NAMED(X)                                                                                             \
    X(nbody, name_bodyadr)                                                                                   \
    X(njnt, name_jntadr)                                                                                     \
    X(ngeom, name_geomadr)                                                                                   \
    X(nsite, name_siteadr)                                                                                   \
    X(ncam, name_camadr)                                                                                     \
    X(nmesh, name_meshadr)                                                                                   \
    X(nhfield, name_hfieldadr)                                                                               \
    X(nmat, name_matadr)                                                                                     \
    X(npair, name_pairadr)                                                                                   \
    X(nexclude, name_excludeadr)                                                                             \
    X(neq, name_eqadr)                                                                                       \
    X(ntendon, name_tendonadr)                                                                               \
    X(nactuator, name_actuatoradr)                                                                           \
    X(nsensor, name_sensoradr)

// The bytes of a name with the prefix; the world's body has the name that it has in all models.
static size_t name_bytes(const orr_model_part *part, const char *name, bool world)
{
    return strlen(name) + 1 + (name[0] && !world ? strlen(part->prefix) : 0);
}

static size_t count_name_bytes(const orr_model_part *part)
{
    const orr_model *m = part->model;
    size_t bytes = 0;
#define COUNT_NAMES(list, table)                                                                             \
    for (int i = 0; i < m->list; i++) {                                                                      \
        bytes += name_bytes(part, m->names + m->table[i], KIND_##list == KIND_nbody && i == 0);              \
    }
    NAMED(COUNT_NAMES)
    return bytes;
}

static void fill_part_names(const joining *j, int *used)
{
    const orr_model *m = j->part->model;
#define FILL_NAMES(list, table)                                                                              \
    for (int i = 0; i < m->list; i++) {                                                                      \
        const char *name = m->names + m->table[i];                                                           \
        bool world = KIND_##list == KIND_nbody && i == 0;                                                    \
        size_t bytes = name_bytes(j->part, name, world);                                                     \
        snprintf(j->to->names + *used, bytes, "%s%s", name[0] && !world ? j->part->prefix : "", name);       \
        j->to->table[moved(j, KIND_##list, i)] = *used;                                                      \
        *used += (int)bytes;                                                                                 \
    }
    NAMED(FILL_NAMES)
}

// ---- all of it

static void join_statistics(const orr_model_part *parts, int count, orr_model *to)
{
    double inertia = 0.0, mass = 0.0, size = 0.0, dofs = 0.0, bodies = 0.0;
    for (int i = 0; i < count; i++) {
        const orr_model *m = parts[i].model;
        inertia += m->nv * m->stat.meaninertia;
        mass += (m->nbody - 1) * m->stat.meanmass;
        size += (m->nbody - 1) * m->stat.meansize;
        dofs += m->nv;
        bodies += m->nbody - 1;
        to->stat.extent = fmax(to->stat.extent, m->stat.extent);
    }
    to->stat.meaninertia = dofs > 0.0 ? inertia / dofs : to->stat.meaninertia;
    to->stat.meanmass = bodies > 0.0 ? mass / bodies : to->stat.meanmass;
    to->stat.meansize = bodies > 0.0 ? size / bodies : to->stat.meansize;
}

static orr_result count_sizes_of_all(const orr_model_part *parts, int count, orr_model *to, orr_error *error)
{
    int64_t sums[KIND_COUNT] = {0};
    size_t names = 0;
    for (int i = 0; i < count; i++) {
        const orr_model *m = parts[i].model;
#define SUM(name) sums[KIND_##name] += m->name;
        JOINED(SUM)
#define WIDEN(name) to->name = m->name > to->name ? m->name : to->name;
        WIDTHS(WIDEN)
        names += count_name_bytes(&parts[i]);
    }
    sums[KIND_nbody] -= count - 1; // one world
    bool fits = sums[KIND_nbody] <= 65535 && names <= INT32_MAX;
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        fits = fits && sums[kind] <= INT32_MAX;
    }
    if (!fits) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "the bodies of all models together: expected up to 65535, not %lld",
                        (long long)sums[KIND_nbody]);
    }
#define TAKE(name) to->name = (int32_t)sums[KIND_##name];
    JOINED(TAKE)
    to->nnames = (int32_t)names;
    return ORR_OK;
}

static void join_part(joining *j, int *used)
{
    copy_arrays(j);
    move_bodies(j);
    move_assets(j);
    move_constraints(j);
    move_actuators(j);
    place_poses(j);
    place_equalities(j);
    fill_part_names(j, used);
}

// How many of a part's geoms, sites and cameras are the world's; they are its first.
static void count_world(const orr_model *m, int32_t counts[KIND_COUNT])
{
    const struct {
        list_kind kind;
        int32_t count;
        const int32_t *body;
    } lists[] = {{KIND_ngeom, m->ngeom, m->geom_bodyid},
                 {KIND_nsite, m->nsite, m->site_bodyid},
                 {KIND_ncam, m->ncam, m->cam_bodyid}};
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) {
        int32_t count = 0;
        while (count < lists[k].count && lists[k].body[count] == 0) {
            count++;
        }
        counts[lists[k].kind] = count;
    }
}

static void join_parts(const orr_model_part *parts, int count, orr_model *to, orr_model_place *places)
{
    joining j = {.to = to};
    int used = 0;
    for (int i = 0; i < count; i++) {
        count_world(parts[i].model, j.world_count);
        for (int kind = 0; kind < KIND_COUNT; kind++) {
            j.first[kind] += j.world_count[kind];
        }
    }
    int world_geoms = j.first[KIND_ngeom];
    j.first[KIND_nbody] = 1;
    for (int i = 0; i < count; i++) {
        j.part = &parts[i];
        count_world(parts[i].model, j.world_count);
        places[i] = j.place = (orr_model_place){.body = j.first[KIND_nbody],
                                                .geom = j.first[KIND_ngeom],
                                                .world_geom = j.world_first[KIND_ngeom],
                                                .world_geoms = j.world_count[KIND_ngeom],
                                                .qpos = j.first[KIND_nq],
                                                .qvel = j.first[KIND_nv],
                                                .act = j.first[KIND_na],
                                                .ctrl = j.first[KIND_nu],
                                                .actuator = j.first[KIND_nactuator],
                                                .output = j.first[KIND_nout],
                                                .mocap = j.first[KIND_nmocap],
                                                .equality = j.first[KIND_neq],
                                                .plastic = j.first[KIND_nplastic],
                                                .delayed = j.first[KIND_ndelayed],
                                                .sensordata = j.first[KIND_nsensordata],
                                                .joint = j.first[KIND_njnt],
                                                .tendon = j.first[KIND_ntendon],
                                                .M = j.first[KIND_nM],
                                                .site = j.first[KIND_nsite],
                                                .world_site = j.world_first[KIND_nsite],
                                                .world_sites = j.world_count[KIND_nsite],
                                                .camera = j.first[KIND_ncam],
                                                .world_camera = j.world_first[KIND_ncam],
                                                .world_cameras = j.world_count[KIND_ncam]};
        join_part(&j, &used);
        j.world_count[KIND_nbody] = 1;
#define NEXT(name) j.first[KIND_##name] += parts[i].model->name - j.world_count[KIND_##name];
        JOINED(NEXT)
        for (int kind = 0; kind < KIND_COUNT; kind++) {
            j.world_first[kind] += j.world_count[kind];
        }
    }
    to->body_geomadr[0] = world_geoms > 0 ? 0 : -1;
    to->body_geomnum[0] = world_geoms;
    for (int i = 1; i < count; i++) {
        to->body_subtreemass[0] += parts[i].model->body_subtreemass[0];
    }
}

orr_result orr_model_join(const orr_model_part *parts, int count, orr_model **joint, orr_model_place *places,
                          orr_error *error)
{
    *joint = NULL;
    orr_model *to = orr_alloc_zero(1, sizeof *to);
    if (!to) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a model");
    }
    const orr_model *first = parts[0].model;
    to->opt = first->opt;
    to->stat = first->stat;
    to->vis = first->vis;
    snprintf(to->name, sizeof to->name, "%s", first->name);
    orr_result result = count_sizes_of_all(parts, count, to, error);
    result = result == ORR_OK ? model_allocate(to, "the scene", error) : result;
    if (result != ORR_OK) {
        orr_model_destroy(to);
        return result;
    }
    join_statistics(parts, count, to);
    join_parts(parts, count, to, places);
    *joint = to;
    return ORR_OK;
}

void orr_model_option_differences(const orr_model_option *a, const orr_model_option *b, char *text,
                                  size_t size)
{
    size_t used = 0;
    text[0] = 0;
#define DIFFERENCE(member)                                                                                   \
    if (memcmp(&a->member, &b->member, sizeof a->member) != 0 && used < size) {                              \
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", #member);               \
    }
    DIFFERENCE(timestep)
    DIFFERENCE(gravity)
    DIFFERENCE(integrator)
    DIFFERENCE(cone)
    DIFFERENCE(solver)
    DIFFERENCE(iterations)
    DIFFERENCE(noslip_iterations)
    DIFFERENCE(tolerance)
    DIFFERENCE(impratio)
    DIFFERENCE(sleep_tolerance)
    DIFFERENCE(density)
    DIFFERENCE(viscosity)
    DIFFERENCE(wind)
    DIFFERENCE(magnetic)
    DIFFERENCE(disableflags)
    DIFFERENCE(enableflags)
}
