"""A world that is dreamed: pictures from actions and camera poses, learned from takes. Needs torch (extra ``train``)."""
