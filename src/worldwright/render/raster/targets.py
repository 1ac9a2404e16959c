"""What is drawn into: the G-buffer, the light, the picture."""

from __future__ import annotations

import moderngl

from worldwright.render.raster.device import GL


class Targets:
    """Textures and framebuffers of one picture size. The order of ``buffer``'s attachments is that of shaders/outputs.glsl."""

    def __init__(self, context: moderngl.Context, gl: GL, width: int, height: int) -> None:
        size = self.size = (width, height)
        self.albedo_map = context.texture(size, 4)
        self.shading_map = context.texture(size, 2, dtype="u4")
        outputs = [
            self.albedo_map,
            self.shading_map,
            context.texture(size, 1, dtype="u2"),
            context.texture(size, 2, dtype="u2"),
            context.texture(size, 1, dtype="u2"),
            context.texture(size, 2, dtype="i2"),
            context.texture(size, 1),
        ]
        self.depth_map = context.depth_texture(size)
        gl.depth32f(self.depth_map, width, height)
        self.depth_map.compare_func = ""
        self.depth_map.filter = moderngl.NEAREST, moderngl.NEAREST
        for texture in outputs:
            texture.filter = moderngl.NEAREST, moderngl.NEAREST
        self.buffer = context.framebuffer(outputs, self.depth_map)
        self.depth_codes, self.normal_codes, self.entity_map = outputs[2:5]
        self.graded_map = context.texture(size, 4)
        self.graded_map.repeat_x = self.graded_map.repeat_y = False
        self.total_map = context.texture(size, 4, dtype="f4")
        self.graded = context.framebuffer([self.graded_map], self.depth_map)
        self.total = context.framebuffer([self.total_map], self.depth_map)
        self.graded.depth_mask = self.total.depth_mask = False
        self.picture = context.framebuffer([context.texture(size, 4)], context.depth_renderbuffer(size))
