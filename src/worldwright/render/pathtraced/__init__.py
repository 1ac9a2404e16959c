"""The path-traced renderer (Mitsuba 3 and Dr.Jit, denoised by Open Image Denoise)."""
