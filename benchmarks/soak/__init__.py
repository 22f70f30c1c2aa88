"""An hour of mixed load on both services: does a process grow?"""
