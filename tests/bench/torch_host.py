"""What wgrun.torch's products cost the host besides the launch itself, in microseconds of the processor a call: no GPU is needed, since
nothing is launched. Needs PyTorch."""

import time

import torch

import wgrun.torch as wt
from wgrun import _kernel, _launcher


def on_device(value, stream, argument_of=_launcher.argument_of):
    out = argument_of(value, stream)
    return out._replace(device=0, stream=None) if isinstance(value, torch.Tensor) else out


torch.Tensor.get_device = lambda tensor: 0
_launcher.argument_of, _launcher.torch_stream = on_device, lambda device: 0
_kernel.Kernel.start = lambda kernel, launch: None

a, b, bias = (torch.randn(*shape).to(torch.bfloat16) for shape in ((256, 256), (256, 256), (256,)))
for name, call in (("matmul", lambda: wt.matmul(a, b)), ("linear", lambda: wt.linear(a, b)), ("linear with a bias", lambda: wt.linear(a, b, bias)),
                   ("new_empty alone", lambda: a.new_empty((256, 256)))):
    call()
    rounds = []
    for _ in range(9):
        begin = time.process_time()
        for _ in range(2000):
            call()
        rounds.append((time.process_time() - begin) / 2000 * 1e6)
    print(f"{name}: {min(rounds):.2f}")
