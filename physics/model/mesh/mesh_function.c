// The mesh of a shape whose distance is a function: marching cubes (Lorensen and Cline 1987) over a lattice
// of about 300 cells along the three sides of its box together, as MuJoCo's.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/model/compile.h"
#include "physics/model/distance_function.h"

#include <string.h>

// The triangles of a cell by which of its corners are inside: three edges each, counter-clockwise from
// outside. Bit k of an index: the corner whose x, y and z are the bits of k. Edge 4 a + b is along axis a;
// the bits of b say where it is along the other two axes, in ascending order. Recorded from MuJoCo 4.0
// with a plugin whose distance is noise; the triangulation decides the last digits of volume and inertia,
// so that of neural/fields/marching_cubes.c does not serve here.
static const char cell_triangles[256][16] = {
    "",
    "048",
    "509",
    "495489",
    "1a4",
    "1801a8",
    "1a4950",
    "51a5a99a8",
    "b15",
    "5b1804",
    "0b109b",
    "14818bb89",
    "a5ba45",
    "05b0b88ba",
    "40949aa9b",
    "8ba89b",
    "286",
    "062046",
    "950628",
    "295256654",
    "41a286",
    "a62a21120",
    "0958621a4",
    "61a621251295",
    "28615b",
    "604620b15",
    "b09b10628",
    "46162916919b",
    "5a45ba286",
    "2a625a5ba052",
    "286a9ba49409",
    "2a629a9ba",
    "927",
    "048792",
    "250275",
    "827874475",
    "1a4279",
    "1801a8792",
    "250275a41",
    "827871175a81",
    "b15279",
    "0485b1279",
    "7b1712210",
    "48242112717b",
    "a5ba45279",
    "7928ba80b05b",
    "ba7a407a0702",
    "7827b8ba8",
    "879867",
    "904947746",
    "086065567",
    "467475",
    "7867981a4",
    "79661a916901",
    "a41567506086",
    "a51a65675",
    "87986715b",
    "15b746794904",
    "08606bb6710b",
    "17b147467",
    "4ba45b698679",
    "670ba0a605b0790",
    "ba06707b0860a40",
    "67b6ba",
    "36a",
    "a36048",
    "36a095",
    "94895436a",
    "341364",
    "680603301",
    "341364950",
    "958836538513",
    "36a5b1",
    "15b48036a",
    "0b109b6a3",
    "6a3b89b18148",
    "b36b65564",
    "8368030b305b",
    "6b360b09b406",
    "6b368b89b",
    "2a328a",
    "4a3430032",
    "a28a32509",
    "34a394954293",
    "841812213",
    "013032",
    "509213281841",
    "529512132",
    "2a328a5b1",
    "b150320434a3",
    "38a32819b109",
    "9b4324294a34b14",
    "5b4428b24b32",
    "b05b30320",
    "3249b4b34094284",
    "32939b",
    "792a36",
    "2796a3048",
    "527502a36",
    "36a475487827",
    "436413927",
    "927301360680",
    "164136075027",
    "138758518278368",
    "36a79215b",
    "0486a379215b",
    "a362102717b1",
    "36ab17127142482",
    "2795645b6b36",
    "2798060360535b3",
    "02b64b40b36b27b",
    "6838b387b827",
    "37939aa98",
    "a04a30390379",
    "8a0a370a7075",
    "34a374754",
    "184178798371",
    "937903013",
    "758138378418508",
    "137175",
    "5b1a98a39379",
    "15ba34304370790",
    "8a7107087b17a37",
    "37a74a7147b1",
    "4539838437935b3",
    "9070370b305b",
    "08437b",
    "7b3",
    "73b",
    "0483b7",
    "5093b7",
    "4954893b7",
    "b7341a",
    "81a80173b",
    "1a4b73095",
    "3b79a895a51a",
    "173157",
    "715731804",
    "973930031",
    "148187789317",
    "3a4347745",
    "80aa7307a057",
    "a40a03309397",
    "3973a9a89",
    "286b73",
    "062046b73",
    "2869503b7",
    "b73654625295",
    "3b7a41286",
    "73b1201a2a62",
    "1a48629503b7",
    "3b762a21a291951",
    "173157862",
    "246204357315",
    "628031093973",
    "469319149739629",
    "8627457343a4",
    "57a20a05a62a73a",
    "2867393093a0a40",
    "2969a693a973",
    "3923b9",
    "3923b9480",
    "b50b03302",
    "54b482b42b23",
    "93b92341a",
    "0a801a2b923b",
    "41a3023b0b50",
    "235a858251a53b5",
    "592521123",
    "804123152592",
    "031023",
    "814821231",
    "3a4349945239",
    "a852353a5925805",
    "43a403023",
    "23a2a8",
    "63b6b88b9",
    "63b6b00b9460",
    "86383003b0b5",
    "b63b56546",
    "1a48b986b63b",
    "016b969063b61a6",
    "1a450b03b083863",
    "a616516b563b",
    "985863583531",
    "319469639049159",
    "608630310",
    "314346",
    "983453593a43863",
    "3a6059",
    "6383083403a4",
    "3a6",
    "6b76ab",
    "b6ab76048",
    "6b76ab095",
    "854895a76ab7",
    "1b7174476",
    "0680b6b761b0",
    "9504764171b7",
    "891761681b71951",
    "a15a56657",
    "0486576a5a15",
    "7696a1961910",
    "7618919714816a1",
    "476457",
    "068056576",
    "940974764",
    "897876",
    "72878bb8a",
    "b7aa0470a720",
    "095b8ab78728",
    "ab25424a2952b72",
    "4284121721b7",
    "71b721201",
    "0954181281b2b72",
    "5191291721b7",
    "872817157a18",
    "20a57a72a15a04a",
    "1078a7a17287097",
    "14a297",
    "872847457",
    "205257",
    "842472497409",
    "972",
    "26a2a99ab",
    "4809ab92a26a",
    "26a2a55ab025",
    "542ab2b526a2482",
    "4166921961b9",
    "b960161b6806926",
    "64b02b26b50b41b",
    "2681b5",
    "6a1612215259",
    "0489252152616a1",
    "a26a12102",
    "a16126182148",
    "259265645",
    "058568526592",
    "026064",
    "268",
    "8ab8b9",
    "4904a9ab9",
    "0b508b8ab",
    "ab5a54",
    "1841b8b98",
    "01b0b9",
    "1b4b84b08b50",
    "b51",
    "5a159a98a",
    "4a0a90a59a15",
    "10818a",
    "14a",
    "459498",
    "590",
    "084",
    "",
};

enum { CELLS = 300, EDGES = 12 };

typedef struct lattice {
    int count[3]; // points along x, y, z
    double half[3];
    float *value;
    int32_t *vertex; // of the edges from each point of two layers along x, y, z
    mesh_data *d;
    int vertex_room, face_room;
} lattice;

static size_t point_index(const lattice *l, int x, int y, int z)
{
    return ((size_t)z * (size_t)l->count[1] + (size_t)y) * (size_t)l->count[0] + (size_t)x;
}

static int32_t *vertex_of(const lattice *l, const int at[3], int axis)
{
    return l->vertex + 3 * point_index(l, at[0], at[1], at[2] % 2) + axis;
}

// Twice the room when `used` elements of `size` bytes fill it.
static bool grow(void **array, int used, int *room, size_t size)
{
    if (used < *room) {
        return true;
    }
    void *more = orr_alloc(2 * (size_t)*room, size);
    if (!more) {
        return false;
    }
    memcpy(more, *array, (size_t)used * size);
    orr_free(*array);
    *array = more;
    *room *= 2;
    return true;
}

// The point of an edge where the distance is 0.
static bool add_vertex(lattice *l, const int at[3], int axis, float from, float to)
{
    mesh_data *d = l->d;
    void *vertices = d->vertices;
    bool enough = grow(&vertices, d->vertex_count, &l->vertex_room, 3 * sizeof(float));
    d->vertices = vertices;
    for (int k = 0; enough && k < 3; k++) {
        float along = (float)at[k] + (k == axis ? from / (from - to) : 0.0f);
        d->vertices[3 * (ptrdiff_t)d->vertex_count + k] =
            (float)(2.0 * l->half[k] * (double)along / (l->count[k] - 1) - l->half[k]);
    }
    *vertex_of(l, at, axis) = d->vertex_count;
    d->vertex_count += enough;
    return enough;
}

// The vertices of a cell's edges, and its triangles. Cells before it have made those that they share.
static bool add_cell(lattice *l, int x, int y, int z)
{
    float value[8];
    unsigned inside = 0;
    for (int k = 0; k < 8; k++) {
        value[k] = l->value[point_index(l, x + (k & 1), y + (k >> 1 & 1), z + (k >> 2))];
        inside |= (unsigned)(value[k] < 0.0f) << k;
    }
    if (inside == 0 || inside == 255) {
        return true;
    }
    int32_t corner[EDGES];
    for (int edge = 0; edge < EDGES; edge++) {
        int axis = edge / 4, low = axis == 0 ? 1 : 0, high = axis == 2 ? 1 : 2;
        int step[3] = {0}, at[3] = {x, y, z};
        step[low] = edge & 1, step[high] = edge >> 1 & 1;
        int from = step[0] + 2 * step[1] + 4 * step[2], to = from | 1 << axis;
        bool is_first = (step[low] == 1 || at[low] == 0) && (step[high] == 1 || at[high] == 0);
        for (int k = 0; k < 3; k++) {
            at[k] += step[k];
        }
        if (is_first && (value[from] < 0.0f) != (value[to] < 0.0f) &&
            !add_vertex(l, at, axis, value[from], value[to])) {
            return false;
        }
        corner[edge] = *vertex_of(l, at, axis);
    }
    for (const char *edge = cell_triangles[inside]; *edge; edge += 3) {
        mesh_data *d = l->d;
        void *faces = d->faces;
        bool enough = grow(&faces, d->face_count, &l->face_room, 3 * sizeof(int32_t));
        d->faces = faces;
        for (int k = 0; enough && k < 3; k++) {
            int digit = edge[k] <= '9' ? edge[k] - '0' : edge[k] - 'a' + 10;
            d->faces[3 * (ptrdiff_t)d->face_count + k] = corner[digit];
        }
        d->face_count += enough;
        if (!enough) {
            return false;
        }
    }
    return true;
}

static bool march(lattice *l, const spec_function *f)
{
    const int *n = l->count;
    for (int z = 0; z < n[2]; z++) {
        for (int y = 0; y < n[1]; y++) {
            for (int x = 0; x < n[0]; x++) {
                const int at[3] = {x, y, z};
                double p[3];
                for (int k = 0; k < 3; k++) {
                    p[k] = -l->half[k] + 2.0 * l->half[k] * at[k] / (n[k] - 1);
                }
                l->value[point_index(l, x, y, z)] = (float)function_distance(f->kind, f->prm, p).d;
            }
        }
    }
    for (int z = 0; z < n[2] - 1; z++) {
        for (int y = 0; y < n[1] - 1; y++) {
            for (int x = 0; x < n[0] - 1; x++) {
                if (!add_cell(l, x, y, z)) {
                    return false;
                }
            }
        }
    }
    return true;
}

orr_result mesh_of_function(const spec_mesh *mesh, mesh_data *d, orr_error *error)
{
    lattice l = {.d = d, .vertex_room = 1 << 14, .face_room = 1 << 15};
    function_half_box(mesh->function.kind, mesh->function.prm, l.half);
    double total = l.half[0] + l.half[1] + l.half[2];
    for (int k = 0; k < 3; k++) {
        l.count[k] = (int)floor(CELLS / total * l.half[k]) + 1;
        if (l.count[k] < 2) {
            return spec_fail(
                &mesh->head, error,
                "plugin: expected a shape whose longest side is less than 100 times its shortest");
        }
    }
    size_t layer = (size_t)l.count[0] * (size_t)l.count[1];
    l.value = orr_alloc(layer * (size_t)l.count[2], sizeof *l.value);
    l.vertex = orr_alloc_zero(6 * layer, sizeof *l.vertex);
    d->vertices = orr_alloc(3 * (size_t)l.vertex_room, sizeof(float));
    d->faces = orr_alloc(3 * (size_t)l.face_room, sizeof(int32_t));
    bool enough = l.value && l.vertex && d->vertices && d->faces && march(&l, &mesh->function);
    orr_free(l.value);
    orr_free(l.vertex);
    if (enough) {
        d->normals = orr_alloc_zero(3 * (size_t)d->vertex_count, sizeof(float));
        d->texcoords = orr_alloc_zero(2 * (size_t)d->vertex_count, sizeof(float));
        enough = d->normals && d->texcoords;
    }
    if (!enough) {
        return spec_memory_fail(error);
    }
    return d->vertex_count >= 4 ? ORR_OK
                                : spec_fail(&mesh->head, error, "plugin: expected a shape with a surface");
}
