"""How a world model is trained: the data, the stages, and the loop that runs them. Needs torch (extra ``train``)."""
