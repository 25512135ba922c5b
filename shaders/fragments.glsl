// Fragments of transparent meshes: a list for each pixel (Yang et al. 2010), unordered until
// fragment_sort.comp sorts it.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

struct fragment_node {
    float depth; // along the camera's axis
    uint order;  // of its mesh among the frame's: decides between equal depths
    vec4 rgba;   // premultiplied
    uint next;   // 1 + index of the next fragment; 0: the end
};
