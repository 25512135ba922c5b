#include "engine/core/isa.h"
#include "render/splat_formula.h"
int ORR_ISA_NAME(orr_probe)(void);
int ORR_ISA_NAME(orr_probe)(void)
{
    splat_lens l = {0};
    splat_screen s = splat_project(l, (real3){0}, (sym3){0}, R(0.5));
    return (int)s.depth[0] + any(s.visible);
}
