"""Tests of the paths for GPUs on a device that is none."""
