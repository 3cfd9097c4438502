"""Stands in for PyTorch when a test imports an extracted module."""
