// A picture into which tests let the CPU's rasteriser draw meshes.
#pragma once

#include "render/cpu/mesh_raster.h"
#include "tests/support/scenes/small_mesh.h"

// A picture being drawn, and what draws it.
typedef struct mesh_canvas {
    orr_jobs *jobs;
    orr_arena arena;
    orr_lens lens;
    orr_mesh_picture picture;
    orr_mesh_counts counts;
    orr_fragment_lists fragments;
} mesh_canvas;

// Of the camera's size, drawn by so many threads.
mesh_canvas mesh_canvas_open(orr_camera camera, int threads);
void mesh_canvas_close(mesh_canvas *c);
// In the light of a sun, which meets what faces the camera at a cosine of 0.8, and of ambient light, 0.25.
void mesh_canvas_draw(mesh_canvas *c, const orr_draw_mesh *meshes, int count);
// A mesh where its vertices are.
void mesh_canvas_draw_one(mesh_canvas *c, const orr_mesh *mesh);
// Looks along +z from the origin, which is the identity pose.
orr_camera straight_camera(int width, int height, float focal);
// White, and facing the camera.
orr_mesh_vertex white_vertex(float x, float y, float z);
