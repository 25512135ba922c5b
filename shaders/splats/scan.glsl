// Prefix sums within a workgroup of GROUP invocations, in shared memory: no subgroup size is assumed.
shared uint scan_values[GROUP];

// The sum of `value` over all invocations before this one; `total` is the sum over all of them. Every
// invocation of the workgroup must call.
uint exclusive_sum(uint value, out uint total)
{
    uint i = gl_LocalInvocationIndex;
    scan_values[i] = value;
    barrier();
    for (uint step = 1u; step < GROUP; step *= 2u) {
        uint before = i >= step ? scan_values[i - step] : 0u;
        barrier();
        scan_values[i] += before;
        barrier();
    }
    total = scan_values[GROUP - 1u];
    uint sum = scan_values[i] - value;
    barrier(); // the next call may overwrite
    return sum;
}
