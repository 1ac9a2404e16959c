"""Worlds and models, walked in a browser. The server needs the extra ``serve``; each visitor plays in a process of his own."""
