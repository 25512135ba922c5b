// Files of Gmsh: what another program writes in format 2.2, what is refused and where. Files that Gmsh writes
// are compared with MuJoCo's reading of them in test_flexes.
#include "engine/mesh/gmsh.h"
#include "tests/support/support.h"

#include <stdlib.h>
#include <string.h>

static orr_gmsh mesh; // read last

static orr_result read_bytes(const void *data, size_t size, orr_error *why)
{
    char *copy = malloc(size + 1); // of its size, so that AddressSanitizer sees what is read behind it
    assert_non_null(copy);
    memcpy(copy, data, size);
    copy[size] = 0;
    const orr_bytes bytes = {(uint8_t *)copy, size};
    orr_gmsh_free(&mesh);
    orr_result result = orr_gmsh_read("a.msh", &bytes, &mesh, why);
    free(copy);
    return result;
}

static void assert_refused(const void *data, size_t size, const char *because)
{
    orr_error why = {0};
    assert_int_equal(read_bytes(data, size, &why), ORR_ERROR_FORMAT);
    assert_int_equal(why.code, ORR_CODE_MESH_FILE);
    assert_true(!mesh.point && !mesh.element && mesh.points == 0);
    if (!strstr(why.message, "a.msh: ") || !strstr(why.message, because) || strchr(why.message, '\n')) {
        fail_msg("expected the file and \"%s\" in one line: %s", because, why.message);
    }
}

#define HEAD_22 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define HEAD_41 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define NODES_22 "$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1.5 0\n$EndNodes\n"
#define NODES_41 "$Nodes\n1 3 5 7\n2 1 0 3\n5\n6\n7\n0 0 0\n1 0 0\n0 1.5 0\n$EndNodes\n"

// Another section first, ends of lines as on Windows, and an element without tags, one with three.
static void text_is_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        HEAD_22 "$PhysicalNames\r\n1\r\n2 1 \"$Nodes\"\r\n$EndPhysicalNames\r\n"
                "$Nodes\r\n3\r\n1 0 0 0\r\n2 1 0 0\r\n3 0 1.5 0\r\n$EndNodes\r\n"
                "$Elements\r\n2\r\n1 2 0 3 1 2\r\n2 2 3 7 8 9 2 3 1\r\n$EndElements\r\n",
        HEAD_41 NODES_41 "$Elements\n1 2 1 2\n2 1 2 2\n1 7 5 6\n2 6 7 5\n$EndElements",
    };
    static const int32_t corners[6] = {2, 0, 1, 1, 2, 0};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_ok(read_bytes(texts[i], strlen(texts[i]), &error));
        assert_int_equal(mesh.dim, 2);
        assert_int_equal(mesh.points, 3);
        assert_int_equal(mesh.elements, 2);
        assert_memory_equal(mesh.element, corners, sizeof corners);
        assert_true(mesh.point[3] == 1.0 && mesh.point[7] == 1.5);
    }
}

// ---- binary format 2.2

typedef struct built {
    char data[512];
    size_t size;
} built;

static void add(built *to, const void *data, size_t size)
{
    assert_true(to->size + size <= sizeof to->data);
    memcpy(to->data + to->size, data, size);
    to->size += size;
}

static void add_text(built *to, const char *text)
{
    add(to, text, strlen(text));
}

// Two tetrahedra under one header without tags, and nothing but numbers before $EndNodes: as fTetWild writes.
static built tetrahedra(int32_t order, int32_t corner)
{
    static const double point[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
    const int32_t elements[13] = {4, 2, 0, 1, 1, 2, 3, 4, 2, 2, 3, 4, corner};
    built to = {.size = 0};
    add_text(&to, "$MeshFormat\n2.2 1 8\n");
    add(&to, &order, sizeof order);
    add_text(&to, "\n$EndMeshFormat\n$Nodes\n5\n");
    for (int32_t i = 1; i <= 5; i++) {
        add(&to, &i, sizeof i);
        add(&to, point[i - 1], sizeof point[0]);
    }
    add_text(&to, "$EndNodes\n$Elements\n2\n");
    add(&to, elements, sizeof elements);
    add_text(&to, "$EndElements\n");
    return to;
}

static void several_elements_under_a_header(void **state)
{
    (void)state;
    static const int32_t corners[8] = {0, 1, 2, 3, 1, 2, 3, 4};
    built file = tetrahedra(1, 5);
    assert_ok(read_bytes(file.data, file.size, &error));
    assert_int_equal(mesh.dim, 3);
    assert_int_equal(mesh.points, 5);
    assert_int_equal(mesh.elements, 2);
    assert_memory_equal(mesh.element, corners, sizeof corners);
    assert_true(mesh.point[12] == 1.0);
    // before the last corner: 49 bytes of text, 140 of nodes, 22 of text, 48 of elements
    file = tetrahedra(1, 6);
    assert_refused(file.data, file.size, "byte 259: expected the tag of a node, 1 to 5");
    file = tetrahedra(1, 5);
    file.data[215] = 3; // how many elements the header is for
    assert_refused(file.data, file.size, "byte 215: expected how many elements follow, 1 to 2");
    file = tetrahedra(1 << 24, 5);
    assert_refused(file.data, file.size, "byte 20: expected a number in little endian order, 1");
    file = tetrahedra(1, 5);
    for (size_t size = 0; size + 1 < file.size; size++) { // cut anywhere but before the last end of line
        assert_refused(file.data, size, "expected");
    }
}

// ---- what is refused

static void broken_text_is_refused(void **state)
{
    (void)state;
#define ELEMENTS_22(lines) HEAD_22 NODES_22 "$Elements\n" lines "$EndElements\n"
#define ELEMENTS_41(lines) HEAD_41 NODES_41 "$Elements\n" lines "$EndElements\n"
    static const struct {
        const char *text, *because;
    } cases[] = {
        {"", "line 1: expected $MeshFormat"},
        {" " HEAD_22, "line 1: expected $MeshFormat"},
        {"$MeshFormat\n4 0 8\n$EndMeshFormat\n", "line 2: expected format 4.1 or 2.2"},
        {"$MeshFormat\n2.2 2 8\n", "line 2: expected 0 for text or 1 for binary"},
        {"$MeshFormat\n4.1 1 4\n", "line 2: expected numbers of 8 bytes, not 4"},
        {"$MeshFormat\n2.2 0 8\n$Nodes\n", "line 3: expected $EndMeshFormat"},
        {HEAD_22 "$Node\n", "expected a line $Nodes"},
        {HEAD_22 NODES_22, "line 9: expected a line $Elements"},
        {HEAD_22 "$Nodes\n0\n", "line 5: expected the number of nodes"},
        {HEAD_22 "$Nodes\n1000000\n1 0 0 0\n", "line 5: expected the number of nodes"},
        {HEAD_22 "$Nodes\n2\n1 0 0 0\n3 1 1 1\n$EndNodes\n", "line 7: expected tags of nodes that count up"},
        {HEAD_22 "$Nodes\n2\n1 0 0 0\n2 1 1 inf\n$EndNodes\n", "line 7: expected a coordinate"},
        {HEAD_22 "$Nodes\n2\n1 0 0 0\n2 1 1\n$EndNodes\n", "line 8: expected a coordinate"},
        {HEAD_22 "$Nodes\n1\n1 0 0 0\n2 1 1 1\n$EndNodes\n", "line 7: expected $EndNodes behind"},
        {HEAD_41 "$Nodes\n2 2 1 2\n0 1 0 1\n1\n0 0 0\n", "line 5: expected all nodes in one block, not 2"},
        {HEAD_41 "$Nodes\n1 2 1 2\n1 1 0 2\n1\n2\n0 0 0\n1 0 0\n",
         "line 6: expected the dimension of a surface"},
        {HEAD_41 "$Nodes\n1 2 1 2\n2 1 1 2\n1\n2\n0 0 0\n1 0 0\n",
         "line 6: expected nodes without coordinates"},
        {HEAD_41 "$Nodes\n1 2 1 2\n2 1 0 1\n1\n2\n0 0 0\n1 0 0\n", "line 6: expected as many in the block"},
        {HEAD_41 "$Nodes\n1 2 1 2\n2 1 0 2\n1\n3\n0 0 0\n1 0 0\n",
         "line 8: expected tags of nodes that count up"},
        {ELEMENTS_22("1\n1 1 2 0 1 1 2\n"), "line 12: expected triangles (type 2) or tetrahedra (4) alone"},
        {ELEMENTS_22("2\n1 2 2 0 1 1 2 3\n2 15 2 0 1 1\n"), "line 13: expected triangles (type 2)"},
        {ELEMENTS_22("1\n1 2 2 0 1 1 2 4\n"), "line 12: expected the tag of a node, 1 to 3"},
        {ELEMENTS_22("1\n1 2 2 0 1 0 2 3\n"), "line 12: expected the tag of a node, 1 to 3"},
        {ELEMENTS_22("1\n1 2 -1 1 2 3\n"), "line 12: expected the number of an element's tags, 0 to 1024"},
        {ELEMENTS_22("1\n1 2 0 1 2.5 3\n"), "line 12: expected the tag of a node"},
        {ELEMENTS_22("2\n1 2 0 1 2 3\n"), "line 13: expected the tag of an element"},
        {ELEMENTS_41("2 2 1 2\n2 1 2 1\n1 5 6 7\n"), "line 15: expected all elements in one block, not 2"},
        {ELEMENTS_41("1 1 1 1\n2 1 3 1\n1 5 6 7 5\n"), "line 16: expected triangles (type 2) or tetrahedra"},
        {ELEMENTS_41("1 1 1 1\n3 1 2 1\n1 5 6 7 5\n"), "line 16: expected a block of dimension 2"},
        {ELEMENTS_41("1 1 1 1\n3 1 4 1\n1 5 6 7 5\n"), "line 16: expected triangles (type 2) or tetrahedra"},
        {ELEMENTS_41("1 1 1 1\n2 1 2 1\n1 5 6 4\n"), "line 17: expected the tag of a node, 5 to 7"},
        {ELEMENTS_41("1 1 1 1\n2 1 2 1\n1 5 6 8\n"), "line 17: expected the tag of a node, 5 to 7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_refused(cases[i].text, strlen(cases[i].text), cases[i].because);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_read),
        cmocka_unit_test(several_elements_under_a_header),
        cmocka_unit_test(broken_text_is_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    orr_gmsh_free(&mesh);
    return failed;
}
