"""Fragmented MP4: boxes, tracks, and the files of captures."""
