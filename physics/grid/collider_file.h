// Distance grids in files (.collider), written and read in milliseconds. Little endian:
//
//   0   "ORRCOLL" and a zero byte, version (uint32: 1), 0 (uint32)
//   16  origin (3 doubles), cell (double), bricks along x, y, z and with samples (4 int32), source (uint64)
//   72  sizes of the three streams that follow (3 uint64) [bytes]
//   96  brick, corner and sample of orr_distance_grid, each one Zstandard frame
#pragma once

#include "engine/core/file.h"
#include "physics/grid/distance_grid.h"

bool orr_collider_readable(const char *path); // by its ending
orr_result orr_distance_grid_load(const char *path, orr_distance_grid **grid, orr_error *error);
// From memory; `name` is for messages.
orr_result orr_distance_grid_read(const uint8_t *data, size_t size, const char *name,
                                  orr_distance_grid **grid, orr_error *error);
// What the file says its source is, from its first bytes; 0: unknown, or no collider.
uint64_t orr_collider_file_source(const char *path);
// Whole or not at all.
orr_result orr_distance_grid_save(const orr_distance_grid *grid, const char *path, orr_error *error);
