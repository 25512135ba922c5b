#!/usr/bin/env bash
# Prints the architectures of the NVIDIA GPUs of this machine as nvcc and CMake number them, for example 90 or
# 80;86, and nothing where there is no GPU.
architectures=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null | tr -d . | sort -u |
    paste -sd ';')
[[ ! $architectures =~ ^[0-9]+(\;[0-9]+)*$ ]] || echo "$architectures"
