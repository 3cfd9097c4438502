"""Source to verdict with `kernevo check`, beside torch's load_inline building the same kernel.

Prints `name  ours  peer  ratio` (tab-separated, seconds of wall clock; ratio = peer / ours). The peer only
builds: it has no GPU to run on and checks nothing.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
TASK = ROOT / "examples" / "softmax" / "task.yaml"
KERNEL = ROOT / "examples" / "softmax" / "naive.cu"

PEER = textwrap.dedent(
    """
    import sys, torch
    from torch.utils.cpp_extension import load_inline
    source = open(sys.argv[1]).read()
    glue = '''
    torch::Tensor run(torch::Tensor x) {
      auto y = torch::empty_like(x);
      int M = x.size(0), N = x.size(1);
      softmax_naive<<<(M + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), M, N);
      return y;
    }
    '''
    load_inline(name="peer", cpp_sources="torch::Tensor run(torch::Tensor x);", cuda_sources=source + glue,
                functions=["run"], build_directory=sys.argv[2], verbose=False)
    """
)


def timed(command, env=None):
    start = time.monotonic()
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return time.monotonic() - start, done


def kernevo_seconds(program, cache, repeats):
    env = dict(os.environ, KERNEVO_CACHE=str(cache))
    samples = []
    for _ in range(repeats):
        seconds, done = timed([program, "check", str(TASK), str(KERNEL), "--quiet"], env)
        if done.returncode != 0:
            sys.exit(f"kernevo check failed:\n{done.stdout}")
        samples.append(seconds)
    return samples


def peer_seconds():
    toolkit = os.environ.get("KERNEVO_CUDA", str(ROOT / ".deps" / "cuda" / "nvidia" / "cu13"))
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, CUDA_HOME=toolkit, TORCH_CUDA_ARCH_LIST="8.0", MAX_JOBS="2")
        env["PATH"] = f"{pathlib.Path(sys.executable).parent}:{toolkit}/bin:{env['PATH']}"
        seconds, done = timed([sys.executable, "-c", PEER, str(KERNEL), folder], env)
        built = list(pathlib.Path(folder).glob("peer*.so"))
        # Without a GPU driver the import after the build may fail; the build itself is what is timed.
        if not built:
            return None, done.stdout[-2000:]
        return seconds, ""


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder) / "cache"
        cold = kernevo_seconds(program, cache, 1)[0]
        warm = statistics.median(kernevo_seconds(program, cache, 9))
    peer, trouble = peer_seconds()
    if peer is None:
        sys.exit(f"the peer did not build:\n{trouble}")
    print(f"check_softmax_cold_s\t{cold:.3f}\t{peer:.1f}\t{peer / cold:.0f}")
    print(f"check_softmax_warm_s\t{warm:.3f}\t{peer:.1f}\t{peer / warm:.0f}")


main()
