"""The stages of training, a file each: what is trained, on what, with which loss. The loop (``train.loop``) knows none of them."""
