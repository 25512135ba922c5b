// Functions in headers of C that kernels call too.
#pragma once

#if defined(__CUDACC__)
#define ORR_INLINE static __host__ __device__ __forceinline__
#else
#define ORR_INLINE static inline
#endif
