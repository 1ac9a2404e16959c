"""Open Image Denoise with base colour and normals as guides."""

from __future__ import annotations

from typing import Any

import mitsuba_oidn

from worldwright.render.pathtraced.platform import CUDA, Platform, thread_count


class Denoiser:
    """The filter on a platform. The guides come with the same noise as the picture (edges, blur, texture), and are cleaned with it."""

    def __init__(self, platform: Platform) -> None:
        if platform.variant == CUDA:
            self._device = mitsuba_oidn.Device.cuda()
        else:
            self._device = mitsuba_oidn.Device(mitsuba_oidn.DeviceType.CPU)
            self._device.num_threads = thread_count()
            self._device.set_bool("setAffinity", False)  # several processes would sit on the same cores

    def clean(self, radiance: Any, albedo: Any, normal: Any, exposure: float) -> Any:
        """Linear radiance [h, w, 3] without noise, of the arrays' own kind. The scale is the picture's exposure, not measured from the
        picture: so that a bright thing coming into view does not change how everything else is cleaned."""
        return mitsuba_oidn.denoise(
            radiance, albedo, normal, hdr=True, quality=mitsuba_oidn.Quality.High, input_scale=exposure, device=self._device
        )
