// Round surfaces that meshes approximate, as the CPU casts rays at them where pictures are small
// (cpu/mesh_round_cpu.h). In the space of the mesh: around the origin, capsules and cylinders along z.
#pragma once

typedef enum orr_round_kind { ORR_ROUND_ELLIPSOID, ORR_ROUND_CAPSULE, ORR_ROUND_CYLINDER } orr_round_kind;

// Where a picture lies on it.
typedef enum orr_round_lay {
    ORR_ROUND_BARE, // not known: what has a texture is drawn by triangles
    ORR_ROUND_FLAT, // seen from +z: u = lay[0] x + 1/2, v = lay[1] y + 1/2
    ORR_ROUND_CUBE  // the faces of a cube (cube_formula.h) around the point, each axis times `lay`
} orr_round_lay;

typedef struct orr_round {
    orr_round_kind kind;
    float size[3]; // half of the axes; else the radius, again the radius, and half of the tube's length
    orr_round_lay how;
    float lay[3];
    float cube_margin; // half a texel of a face, of its width
} orr_round;
