"""The taskset of wgrun.adapters.verifiers under a name that verifiers can import: vf-eval wgrun_kernels."""

from wgrun.adapters.verifiers import KernelTaskset

__all__ = ["KernelTaskset"]
