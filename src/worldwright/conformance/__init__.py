"""One suite per protocol, written against the protocol alone: what an engine or a renderer must do to belong here."""
