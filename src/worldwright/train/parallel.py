"""Several processes as one: FSDP2 where torchrun started us, nothing else where it did not."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch import distributed as dist

Module = TypeVar("Module", bound=nn.Module)


@dataclass(frozen=True)
class Crew:
    """``rank`` of ``size`` processes."""

    rank: int
    size: int

    @property
    def first(self) -> bool:
        """The one that writes and tells."""
        return self.rank == 0


@contextlib.contextmanager
def crew(device: torch.device) -> Iterator[Crew]:
    """Join the processes that torchrun started; where they are joined already, they stay so."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield Crew(0, 1)
        return
    if dist.is_initialized():
        yield Crew(dist.get_rank(), size)
        return
    if device.type == "cuda":
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Crew(dist.get_rank(), size)
    finally:
        dist.destroy_process_group()


def share(module: nn.Module, crew: Crew, device: torch.device) -> nn.Module:
    """Share the module's weights among the processes, layer by layer. All must hold the same ones before."""
    module.to(device)
    if crew.size > 1:
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        mesh = init_device_mesh(device.type, (crew.size,))
        for layer in getattr(module, "layers", ()):
            fully_shard(layer, mesh=mesh)
        fully_shard(module, mesh=mesh)
    return module


def whole(tensor: Tensor) -> Tensor:
    """A tensor with the parts of all processes, on the CPU. All must call it."""
    full = tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor
    return full.detach().cpu().contiguous()


def part_of(value: Tensor, like: Tensor) -> Tensor:
    """This process's part of a whole tensor, shared out as ``like`` is."""
    from torch.distributed.tensor import DTensor, distribute_tensor

    if isinstance(like, DTensor):
        return distribute_tensor(value.to(like.device), like.device_mesh, like.placements)
    return value.to(like.device)


def mean(value: Tensor, crew: Crew) -> Tensor:
    """The mean over the processes."""
    if crew.size > 1:
        dist.all_reduce(value)
        value = value / crew.size
    return value


def unshared(module: Module, fresh: Module, device: torch.device) -> Module:
    """``fresh``, which has the same shape, with the module's weights, whole and in this process alone."""
    fresh.load_state_dict({name: whole(value) for name, value in module.state_dict().items()})
    fresh.to(device).eval()
    return fresh


def turns(crew: Crew) -> Iterator[None]:
    """The body once in each process: the first before the others, which find what it has made."""
    if crew.size > 1 and not crew.first:
        dist.barrier()
    yield
    if crew.size > 1 and crew.first:
        dist.barrier()
