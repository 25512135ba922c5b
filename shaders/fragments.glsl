// Fragments of transparent meshes: a list for each pixel (Yang et al. 2010), in no order until
// fragment_sort.comp has seen to it.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

struct fragment_node {
    float depth; // along the camera's axis
    uint order;  // of its mesh among the frame's: decides between equal depths
    vec4 rgba;   // premultiplied
    uint next;   // 1 + the place of a fragment; 0: the end
};
