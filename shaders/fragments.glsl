// Fragments of transparent meshes: a list for each pixel, in no order (Yang et al. 2010).
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

struct fragment_node {
    float depth; // along the camera's axis
    uint order;  // of its mesh among the frame's: decides between equal depths
    vec4 rgba;   // premultiplied
    uint next;   // as a list begins
};
