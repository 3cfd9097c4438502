"""Judges Python programs: what a candidate asked of the GPU is replayed on inputs it never saw."""
