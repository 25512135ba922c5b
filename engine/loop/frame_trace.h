// An account of the frame: what each machine worked at, and when (engine/core/trace.h).
#pragma once

#include "engine/core/trace.h"

// From now on the stages of this frame's pictures, and the engine's threads, are recorded: on the host pose,
// submit, wait, the copies, and what the CPU draws; on each device its stages. NULL: no longer. What belongs
// to no frame of the caller's is recorded under trace->frame: set it before each submit. No frame may be
// waiting; the trace must outlive the recording.
orr_result orr_frame_trace(orr_frame *frame, orr_trace *trace, orr_error *error);
