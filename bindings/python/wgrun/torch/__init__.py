"""PyTorch's operators by wgrun's kernels: ``from wgrun.torch import linear, attention, flash_attn_func``.

Each has the arguments of the function that it stands for, works under autograd, torch.compile, torch.export and in CUDA
graphs, and knows its shapes without running (fake tensors). Tensors on a Hopper GPU are used there; tensors of the host
are used by the simulator, which is for tests."""

from ._attention import attention, flash_attn_func, scaled_dot_product_attention
from ._attention_decode import attention_decode
from ._attention_packed import flash_attn_varlen_func
from ._collectives import all_gather_matmul, matmul_reduce_scatter
from ._dropout import dropout_mask
from ._fp4 import convert_weight_to_fp4pack, weight_fp4pack_mm
from ._latent import mla_decode
from ._linear_attention import delta_rule, kda
from ._operator import operator
from ._products import grouped_mm, linear, matmul, scaled_mm
from ._ssd import ssd

__all__ = ["all_gather_matmul", "attention", "attention_decode", "convert_weight_to_fp4pack", "delta_rule", "dropout_mask",
           "flash_attn_func", "flash_attn_varlen_func", "grouped_mm", "kda", "linear", "matmul", "matmul_reduce_scatter",
           "mla_decode", "operator", "scaled_dot_product_attention", "scaled_mm", "ssd", "weight_fp4pack_mm"]
