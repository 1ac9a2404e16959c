"""A person in the physics: a capsule that walks, steps, jumps, crouches, slides, pushes and rides."""
