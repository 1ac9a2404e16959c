"""What is drawn into: the G-buffer, the light, the picture."""

from __future__ import annotations

import moderngl

from worldwright.render.raster.device import GL


class Targets:
    """Textures and framebuffers of one picture size. The attachments of ``buffer`` are those of shaders/outputs.glsl."""

    def __init__(self, context: moderngl.Context, gl: GL, width: int, height: int) -> None:
        size = self.size = (width, height)
        outputs = [self.surface_map, self.aim_map] = [context.texture(size, components, dtype="u4") for components in (4, 2)]
        self.depth_map = context.depth_texture(size)
        gl.depth32f(self.depth_map, width, height)
        self.depth_map.compare_func = ""
        self.depth_map.filter = moderngl.NEAREST, moderngl.NEAREST
        for texture in outputs:
            texture.filter = moderngl.NEAREST, moderngl.NEAREST
        self.buffer = context.framebuffer(outputs, self.depth_map)
        self.graded_map = context.texture(size, 4)
        self.graded_map.repeat_x = self.graded_map.repeat_y = False
        self.total_map = context.texture(size, 4, dtype="f4")
        self.graded = context.framebuffer([self.graded_map], self.depth_map)
        self.total = context.framebuffer([self.total_map], self.depth_map)
        self.graded.depth_mask = self.total.depth_mask = False
        self.picture = context.framebuffer([context.texture(size, 4)], context.depth_renderbuffer(size))
