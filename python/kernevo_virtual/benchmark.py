"""Triton's benchmarks on the virtual GPU. Time there is modelled and the same each time, so one run says
what Triton's own dozens would, and no cache has to be emptied between runs."""

running = 0  # benchmarks begun in this process: one inside another makes the outer one's run too long


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """As triton.testing.do_bench, in milliseconds."""
    import torch

    global running
    if return_mode not in ("min", "max", "mean", "median", "all"):
        raise AssertionError(f"return_mode is '{return_mode}'")
    running += 1
    while True:
        begun = running
        for tensor in grad_to_none or ():
            tensor.grad = None
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        start.record()
        fn()
        end.record()
        torch.cuda.synchronize()
        if running == begun:  # else an autotuner has chosen meanwhile: now it has
            break
    time = start.elapsed_time(end)
    if quantiles is not None:
        return [time] * len(quantiles) if len(quantiles) > 1 else time
    return [time] if return_mode == "all" else time


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    return do_bench(fn, grad_to_none=grad_to_none, quantiles=quantiles, return_mode=return_mode)


def put_into(testing):
    """`testing`: the module triton.testing, where autotuners look, too."""
    testing.do_bench = do_bench
    testing.do_bench_cudagraph = do_bench_cudagraph
