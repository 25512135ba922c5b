// The surfaces of a robot's geoms as triangle meshes, in the frame of the geom, made once when a robot is
// loaded.
#pragma once

#include "physics/model/model.h"
#include "render/mesh.h"

// How far an endless plane is drawn around the camera [m]: so far that its edge is the horizon. The bounds of
// its mesh are those of the middle: orthographic views, which have no horizon, show no more.
enum { ORR_ENDLESS_PLANE = 400, ORR_HORIZON = 1000000 };

// Around a round surface that is drawn in full.
enum { ORR_ROBOT_COLUMNS = 24 };

// The surface of one geom with its material; a mesh of one part. `texture` is the geom's (NULL: none), with
// its mip chain; the mesh borrows it. A geom that shows nothing gives a mesh of no triangles.
// columns: around round surfaces, 6 to ORR_ROBOT_COLUMNS, even. Corners are as far outside of these as faces
// are inside at most (rings.h).
orr_result orr_robot_shape(const orr_model *model, int geom, orr_image8 *texture, int columns,
                           orr_mesh **mesh, orr_error *error);
// How far the corners and faces of a ball with so many columns are off, of its radius: 0.0074 with all.
float orr_robot_round_error(int columns);
// A sphere, capsule, cylinder or box that is no geom of a model; rgba: display values, straight alpha.
orr_result orr_robot_primitive_shape(orr_geom_type type, const double size[3], const float rgba[4],
                                     orr_mesh **mesh, orr_error *error);
// Gives a material of no texture a colour, and the gloss of geoms without a material.
void orr_robot_paint(orr_mesh_material *surface, const float rgba[4]);
// The same of a site.
orr_result orr_robot_site_shape(const orr_model *model, int site, orr_image8 *texture, orr_mesh **mesh,
                                orr_error *error);
// A spatial tendon's pieces: along +z a cylinder of radius 1 from 0 to 1, and between them balls of radius 1.
orr_result orr_robot_tendon_shapes(const orr_model *model, int tendon, orr_mesh **piece, orr_mesh **ball,
                                   orr_error *error);
// The six faces of a sky around the origin, at distance 1, seen from inside; `texture`: of a cube. The mesh
// owns its own.
orr_result orr_robot_sky_shape(const orr_image8 *texture, orr_mesh **mesh, orr_error *error);

// Marks drawn beside geoms, along +z, of one colour [display, 0 .. 1].
typedef enum orr_robot_mark {
    ORR_ROBOT_MARK_CONTACT, // a disc of radius 1 and height 1 around 0
    ORR_ROBOT_MARK_SHAFT,   // a cylinder of radius 1 from 0 to 1
    ORR_ROBOT_MARK_HEAD,    // a cone of radius 1 from 0 to 1
    ORR_ROBOT_MARK_COUNT
} orr_robot_mark;
orr_result orr_robot_mark_shape(orr_robot_mark mark, const float colour[3], orr_mesh **mesh,
                                orr_error *error);

// The colour of a geom: its own, or else its material's; display values, straight alpha.
const float *orr_robot_colour(const orr_model *model, int geom);
const float *orr_robot_site_colour(const orr_model *model, int site);
const float *orr_robot_tendon_colour(const orr_model *model, int tendon);
