"""``python -m worldwright``."""

from worldwright.cli import main

main()
