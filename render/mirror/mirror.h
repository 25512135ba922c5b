// Flat surfaces that mirror: which of a draw list the camera sees, and the camera that draws what they show.
//
// A mirror shows the scene as a camera sees it that stands mirrored behind it, of what is in front of its
// plane. The axes of that camera are not mirrored, which would turn triangles around: its picture is flipped
// instead, so that pixel (x, y) of the mirror shows its pixel (width - 1 - x, y).
#pragma once

#include "render/draw.h"

enum { ORR_MIRRORS = 4 }; // that are drawn, at most

// A part of a mesh of the list. Light of material->reflectance times what it shows is added to its own.
typedef struct orr_mirror {
    int32_t mesh, part;
    float plane[4]; // world: a point p is in front of it by plane[0] x + plane[1] y + plane[2] z + plane[3]
} orr_mirror;

typedef struct orr_mirror_picture {
    orr_mirror mirror;
    // height x width x 4 as the mirrored camera sees it, premultiplied, display-referred; of the machine that
    // draws
    const float *rgba;
} orr_mirror_picture;

typedef struct orr_mirror_pictures {
    orr_mirror_picture items[ORR_MIRRORS]; // count
    int count;
} orr_mirror_pictures;

// Does some surface of the list mirror, seen or not?
bool orr_has_mirrors(const orr_draw_list *list);

// Those whose front the list's camera may see, the first of them in the order of the list; how many, 0 where
// the list has no mirrors or its camera is distorted. Parts of meshes are taken for flat. Transparent ones,
// and those whose place only a device knows, do not mirror.
int orr_mirrors_find(const orr_draw_list *list, orr_mirror found[ORR_MIRRORS]);

// The camera that sees what is in a mirror of the one of `lens`, which is not distorted.
void orr_mirror_lens(const orr_mirror *mirror, const orr_lens *lens, orr_lens *mirrored);

// What that camera draws of a list: all but the mirror itself, the sky and the background. Mirrors in mirrors
// show their own light alone.
orr_draw_list orr_mirror_list(const orr_mirror *mirror, const orr_draw_list *list);

// That of a part of a mesh of the list; NULL: it shows none. pictures: NULL: there are none.
const orr_mirror_picture *orr_mirror_pictures_of(const orr_mirror_pictures *pictures, int mesh, int part);
