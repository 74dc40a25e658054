"""Processes: the only room that starts and ends them. Groups, pid files, leftovers, workers."""
