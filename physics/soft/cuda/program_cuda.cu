// A step of vertex block descent as kernels: the CPU's text, with a thread for a vertex in one world.
#include "engine/device/cuda_kernel.h"
#include "physics/soft/cuda/program_cuda.h"
#include "physics/soft/gas_inline.h"
#include "physics/soft/plastic_inline.h"
#include "physics/soft/program_inline.h"

// The numbers of a launch that are the same for all threads.
struct launch {
    orr_soft_cuda soft;
    soft_numbers numbers;
    plastic_law plastic;
    orr_soft_gas gas;
};

// What a model has besides elements and contacts: step_group has an instance for each, as registers of what
// it does not have would slow it down.
enum { YIELDS = 1, GAS = 2 };

// A group's state, with the tables where the kernel has them.
static __device__ __forceinline__ orr_soft_group group_at(const orr_soft_cuda &soft, int i)
{
    orr_soft_group g = soft.group;
    void **const arrays[] = {&g.position, &g.velocity,        &g.change, &g.start,    &g.target,
                             &g.previous, &g.before_previous, &g.touch,  &g.pressure, &g.swell};
    ORR_UNROLL
    for (int k = 0; k < 10; k++) {
        *arrays[k] = *arrays[k] ? (char *)*arrays[k] + (size_t)i * soft.group_bytes : NULL;
    }
    g.tables = &soft.tables;
    g.number = soft.plastic.tets > 0 ? soft.plastic.number + (size_t)i * soft.plastic.number_count
                                     : soft.tables.number;
    return g;
}

// Thread t of all that relax blocks from `first` on: adjacent threads are adjacent worlds, or adjacent
// vertices where a group has one world.
static __device__ __forceinline__ void relax_thread(const launch &l, const orr_soft_group &g, int first,
                                                    int t)
{
    const int lane = t / g.worlds;
    const orr_soft_block *block = &l.soft.tables.block[first + lane / LANE_STRIDE];
    const reader r = {lane % LANE_STRIDE, t % g.worlds, g.worlds};
    if (r.lane < block->vertices) {
        relax_vertex(r, &l.numbers, &g, block);
    }
}

// Number t of a group: of vertex t / worlds in world t % worlds.
static __device__ __forceinline__ void begin_thread(const launch &l, const orr_soft_group &g, int t)
{
    const int v = t / g.worlds;
    begin_vertex(&l.numbers, &g, (ptrdiff_t)v * 3 * g.worlds + t % g.worlds, g.pinned[v]);
}

static __device__ __forceinline__ void accelerate_thread(const orr_soft_group &g, number omega, int t)
{
    const int v = t / g.worlds;
    const bool touches = ((const number *)g.touch)[t] > (number)0;
    accelerate_vertex(&g, omega, (ptrdiff_t)v * 3 * g.worlds + t % g.worlds, !g.pinned[v] && !touches);
}

static __device__ __forceinline__ void finish_thread(const launch &l, const orr_soft_group &g, int t)
{
    const int v = t / g.worlds;
    for (int c = 0; c < 3; c++) {
        const ptrdiff_t at = ((ptrdiff_t)v * 3 + c) * g.worlds + t % g.worlds;
        finish_number(&l.numbers, &g, at, c, g.pinned[v]);
    }
}

// ---- gas: sums of slices in an order that is the same for any number of threads

// By values, and a function of its own: inlined it would cost step_group 36 registers (sm_80).
static __device__ __noinline__ void sum_slice(orr_soft_cuda_gas gas, const number *position,
                                              const number *swell, int vertices, int worlds, double *sums,
                                              int t)
{
    const int slice = t / worlds, world = t % worlds;
    const double origin[3] = {(double)position[world], (double)position[worlds + world],
                              (double)position[2 * worlds + world]};
    double volume = 0.0, growth = 0.0;
    for (int i = slice; i < gas.triangles; i += SOFT_CUDA_SLICES) {
        double corner[9];
        for (int k = 0; k < 9; k++) {
            const ptrdiff_t at = (ptrdiff_t)gas.triangle[i * 3 + k / 3] * 3 + k % 3;
            corner[k] = (double)position[at * worlds + world];
        }
        volume += gas_wedge(corner, origin);
    }
    for (int v = slice; v < vertices; v += SOFT_CUDA_SLICES) {
        growth += (double)swell[(ptrdiff_t)v * worlds + world];
    }
    sums[t] = volume, sums[SOFT_CUDA_SLICES * worlds + t] = growth;
}

static __device__ __noinline__ void set_pressure(orr_soft_gas gas, const double *sums, int worlds, int world,
                                                 bool start, number *pressure)
{
    double volume = 0.0, growth = 0.0;
    for (int slice = 0; slice < SOFT_CUDA_SLICES; slice++) {
        volume += sums[slice * worlds + world];
        growth += sums[(SOFT_CUDA_SLICES + slice) * worlds + world];
    }
    *pressure = (number)(start ? gas_pressure(&gas, volume / 6.0)
                               : gas_next(&gas, (double)*pressure, volume / 6.0, growth));
}

// By all threads of a block.
static __device__ void update_pressure(const launch &l, const orr_soft_group &g, int group, bool start)
{
    const int own = (int)threadIdx.x, stride = (int)blockDim.x;
    double *sums = l.soft.gas.sums + (size_t)group * 2 * SOFT_CUDA_SLICES * g.worlds;
    for (int t = own; t < SOFT_CUDA_SLICES * g.worlds; t += stride) {
        sum_slice(l.soft.gas, (const number *)g.position, (const number *)g.swell, g.vertices, g.worlds, sums,
                  t);
    }
    __syncthreads();
    for (int world = own; world < g.worlds; world += stride) {
        set_pressure(l.gas, sums, g.worlds, world, start, (number *)g.pressure + world);
    }
    __syncthreads();
}

static __global__ __launch_bounds__(SOFT_CUDA_GROUP) void pressure_group(launch l, bool start)
{
    update_pressure(l, group_at(l.soft, (int)blockIdx.x), (int)blockIdx.x, start);
}

// ---- yield

// The numbers of a tet, with its plastic strain, as its corners read them; no other thread has these.
static __device__ void write_tet(const orr_soft_cuda_plastic &p, const orr_soft_group &g,
                                 const double *strain, int tet)
{
    for (int corner = 0; corner < 4; corner++) {
        const ptrdiff_t use = (ptrdiff_t)tet * 4 + corner, at = p.at[use];
        double now[9];
        plastic_rows(p.rows + use * 9, strain, now);
        for (int k = 0; k < 9 && at >= 0; k++) {
            ((number *)g.number)[at + k * LANE_STRIDE] = (number)now[k];
        }
    }
}

static __device__ double *strain_at(const orr_soft_cuda_plastic &p, int group, int tet)
{
    return p.strain + ((size_t)group * p.tets + tet) * 9;
}

static __device__ __forceinline__ void yield_thread(const launch &l, const orr_soft_group &g, int group,
                                                    int tet)
{
    const orr_soft_cuda_plastic &p = l.soft.plastic;
    const number *position = (const number *)g.position;
    const int32_t *v = p.tet + (ptrdiff_t)tet * 4;
    double *strain = strain_at(p, group, tet), side[9], fe[9], j;
    for (int i = 0; i < 9; i++) {
        side[i] = (double)position[(ptrdiff_t)v[i / 3 + 1] * 3 + i % 3] -
                  (double)position[(ptrdiff_t)v[0] * 3 + i % 3];
    }
    plastic_elastic(side, p.rows + (ptrdiff_t)tet * 36, strain, fe);
    if (plastic_yields(&l.plastic, fe, &j)) {
        plastic_flow(&l.plastic, fe, j, strain);
        write_tet(p, g, strain, tet);
    }
}

static __global__ void yield_group(launch l)
{
    const int group = (int)blockIdx.y, tet = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const orr_soft_group g = group_at(l.soft, group);
    if (tet < l.soft.plastic.tets) {
        yield_thread(l, g, group, tet);
    }
}

static __global__ void strain_group(orr_soft_cuda soft, int group)
{
    const int tet = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const orr_soft_group g = group_at(soft, group);
    if (tet < soft.plastic.tets) {
        write_tet(soft.plastic, g, strain_at(soft.plastic, group, tet), tet);
    }
}

// ---- a step

static __global__ void begin_group(launch l)
{
    const orr_soft_group g = group_at(l.soft, (int)blockIdx.y);
    const int t = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (t < g.vertices * g.worlds) {
        begin_thread(l, g, t);
    }
}

static __global__ __launch_bounds__(SOFT_CUDA_RELAX) void relax_colour(launch l, int first, int end)
{
    const orr_soft_group g = group_at(l.soft, (int)blockIdx.y);
    const int t = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (t < (end - first) * LANE_STRIDE * g.worlds) {
        relax_thread(l, g, first, t);
    }
}

static __global__ void accelerate_group(orr_soft_cuda soft, number omega)
{
    const orr_soft_group g = group_at(soft, (int)blockIdx.y);
    const int t = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (t < g.vertices * g.worlds) {
        accelerate_thread(g, omega, t);
    }
}

static __global__ void finish_group(launch l)
{
    const orr_soft_group g = group_at(l.soft, (int)blockIdx.y);
    const int t = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (t < g.vertices * g.worlds) {
        finish_thread(l, g, t);
    }
}

// A thread block has a group's worlds for itself: barriers order its colours and iterations.
template <int HAS> static __global__ __launch_bounds__(SOFT_CUDA_GROUP) void step_group(launch l, int steps)
{
    const orr_soft_group g = group_at(l.soft, (int)blockIdx.x);
    const int own = (int)threadIdx.x, stride = (int)blockDim.x, all = g.vertices * g.worlds;
    for (int step = 0; step < steps; step++) {
        if (HAS & GAS) {
            update_pressure(l, g, (int)blockIdx.x, true);
        }
        for (int t = own; t < all; t += stride) {
            begin_thread(l, g, t);
        }
        __syncthreads();
        for (int n = 0; n < l.soft.iterations; n++) {
            for (int colour = 0; colour < l.soft.tables.colours; colour++) {
                const int first = l.soft.tables.colour_block[colour];
                const int end = l.soft.tables.colour_block[colour + 1];
                for (int t = own; t < (end - first) * LANE_STRIDE * g.worlds; t += stride) {
                    relax_thread(l, g, first, t);
                }
                __syncthreads();
            }
            for (int t = own; t < all && g.previous; t += stride) {
                accelerate_thread(g, (number)l.soft.omega[n], t);
            }
            __syncthreads();
            if ((HAS & GAS) && l.gas.ambient > 0.0) {
                update_pressure(l, g, (int)blockIdx.x, false);
            }
        }
        for (int t = own; t < all; t += stride) {
            finish_thread(l, g, t);
        }
        __syncthreads();
        if (HAS & YIELDS) {
            for (int t = own; t < l.soft.plastic.tets; t += stride) {
                yield_thread(l, g, (int)blockIdx.x, t);
            }
            __syncthreads();
        }
    }
}

static __global__ void translate_group(orr_soft_cuda soft, double x, double y, double z)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    number *const iterate[3] = {(number *)soft.group.position, (number *)soft.group.previous,
                                (number *)soft.group.before_previous};
    for (int k = 0; k < 3 && iterate[k] && i < soft.group.vertices * 3; k++) {
        iterate[k][i] = (number)((double)iterate[k][i] + (i % 3 == 0 ? x : i % 3 == 1 ? y : z));
    }
}

static launch launch_of(const orr_soft_cuda *soft, const orr_soft_constants *constants)
{
    launch l;
    l.soft = *soft;
    fill_numbers(constants, &l.numbers);
    l.plastic = plastic_law_of(constants);
    l.gas = constants->gas;
    return l;
}

// Of all numbers of a group, for each of the groups.
static dim3 grid_of(const orr_soft_cuda *soft, int threads, int size)
{
    return dim3(orr_cuda_blocks((size_t)threads, (size_t)size), (unsigned int)soft->groups, 1);
}

static dim3 grid_of_all(const orr_soft_cuda *soft)
{
    return grid_of(soft, soft->group.vertices * soft->group.worlds, SOFT_CUDA_OTHER);
}

void orr_soft_cuda_steps(cudaStream_t stream, const orr_soft_cuda *soft, const orr_soft_constants *constants,
                         int steps)
{
    const launch l = launch_of(soft, constants);
    const unsigned int groups = (unsigned int)soft->groups;
    switch ((soft->plastic.tets > 0 ? YIELDS : 0) + (soft->gas.triangles > 0 ? GAS : 0)) {
    case 0:
        ORR_LAUNCH((step_group<0>), groups, SOFT_CUDA_GROUP, 0, stream, l, steps);
        break;
    case YIELDS:
        ORR_LAUNCH((step_group<YIELDS>), groups, SOFT_CUDA_GROUP, 0, stream, l, steps);
        break;
    case GAS:
        ORR_LAUNCH((step_group<GAS>), groups, SOFT_CUDA_GROUP, 0, stream, l, steps);
        break;
    default:
        ORR_LAUNCH((step_group<YIELDS + GAS>), groups, SOFT_CUDA_GROUP, 0, stream, l, steps);
        break;
    }
}

void orr_soft_cuda_begin(cudaStream_t stream, const orr_soft_cuda *soft, const orr_soft_constants *constants)
{
    ORR_LAUNCH(begin_group, grid_of_all(soft), SOFT_CUDA_OTHER, 0, stream, launch_of(soft, constants));
}

void orr_soft_cuda_relax(cudaStream_t stream, const orr_soft_cuda *soft, const orr_soft_constants *constants,
                         int first, int end)
{
    const int threads = (end - first) * LANE_STRIDE * soft->group.worlds;
    ORR_LAUNCH(relax_colour, grid_of(soft, threads, SOFT_CUDA_RELAX), SOFT_CUDA_RELAX, 0, stream,
               launch_of(soft, constants), first, end);
}

void orr_soft_cuda_accelerate(cudaStream_t stream, const orr_soft_cuda *soft, double omega)
{
    ORR_LAUNCH(accelerate_group, grid_of_all(soft), SOFT_CUDA_OTHER, 0, stream, *soft, (number)omega);
}

void orr_soft_cuda_finish(cudaStream_t stream, const orr_soft_cuda *soft, const orr_soft_constants *constants)
{
    ORR_LAUNCH(finish_group, grid_of_all(soft), SOFT_CUDA_OTHER, 0, stream, launch_of(soft, constants));
}

void orr_soft_cuda_pressure(cudaStream_t stream, const orr_soft_cuda *soft,
                            const orr_soft_constants *constants, bool start)
{
    ORR_LAUNCH(pressure_group, (unsigned int)soft->groups, SOFT_CUDA_GROUP, 0, stream,
               launch_of(soft, constants), start);
}

void orr_soft_cuda_yield(cudaStream_t stream, const orr_soft_cuda *soft, const orr_soft_constants *constants)
{
    ORR_LAUNCH(yield_group, grid_of(soft, soft->plastic.tets, SOFT_CUDA_OTHER), SOFT_CUDA_OTHER, 0, stream,
               launch_of(soft, constants));
}

void orr_soft_cuda_strain(cudaStream_t stream, const orr_soft_cuda *soft, int group)
{
    ORR_LAUNCH(strain_group, orr_cuda_blocks((size_t)soft->plastic.tets, SOFT_CUDA_OTHER), SOFT_CUDA_OTHER, 0,
               stream, *soft, group);
}

void orr_soft_cuda_translate(cudaStream_t stream, const orr_soft_cuda *soft, const double by[3])
{
    ORR_LAUNCH(translate_group, grid_of(soft, soft->group.vertices * 3, SOFT_CUDA_OTHER), SOFT_CUDA_OTHER, 0,
               stream, *soft, by[0], by[1], by[2]);
}
