// Ambient occlusion: the search around what each pixel shows of opaque meshes.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require
#include "shaders/light.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) uniform sampler2D mesh_depth; // along the camera's axis; infinity: no mesh
layout(binding = 1, scalar) readonly buffer Lighting { frame_light lighting; };
// height x width: the depth, and the sums of light above the horizons and above the surface's plane
layout(binding = 2, scalar) writeonly buffer Occlusion { vec3 occlusion_map[]; };

#define OCCLUSION_DEPTH(column, row) texelFetch(mesh_depth, ivec2(column, row), 0).r
#include "shaders/occlusion.glsl"

// The depth of a neighbour; beyond the picture and where there is none, far away, but finite.
float depth_beside(ivec2 size, int column, int row)
{
    bool inside = column >= 0 && column < size.x && row >= 0 && row < size.y;
    return inside ? min_(OCCLUSION_DEPTH(column, row), 1e18) : 1e18;
}

void main()
{
    ivec2 size = ivec2(lighting.occlusion.width, lighting.occlusion.height);
    int column = int(gl_GlobalInvocationID.x), row = int(gl_GlobalInvocationID.y);
    if (column >= size.x || row >= size.y) {
        return;
    }
    float depth = depth_beside(size, column, row), x = float(column), y = float(row);
    vec3 found = vec3(1e38, 0.0, 0.0);
    if (depth < 1e18) {
        real3 normal = occlusion_normal(lighting.occlusion, x, y, depth, depth_beside(size, column - 1, row),
                                        depth_beside(size, column + 1, row),
                                        depth_beside(size, column, row - 1),
                                        depth_beside(size, column, row + 1));
        occlusion_sums sums = occlusion_search(occlusion_seen(lighting.occlusion, x, y, depth), normal,
                                               OCCLUSION_DIRECTIONS);
        found = vec3(depth, sums.above, sums.all_around);
    }
    occlusion_map[row * size.x + column] = found;
}
