"""The published tuning spaces kernevo's predictions are compared with: how each kernel is launched, and where its
recordings are read from. Sources and recordings are not part of this repository; run.py is given their folders."""

import gzip
import json


def ceil_div(a, b):
    return -(-a // b)


def text(values):
    return {name: str(value) for name, value in values.items()}


def convolution(c):
    """15x15 filter over 4096x4096 pixels; edges of blocks may read past the image, so the buffer is larger."""
    defines = text(c) | {"filter_height": "15", "filter_width": "15"}
    return {
        "kernel": "convolution_kernel",
        "defines": defines,
        "grid": [ceil_div(4096, c["block_size_x"] * c["tile_size_x"]), ceil_div(4096, c["block_size_y"] * c["tile_size_y"]), 1],
        "block": [c["block_size_x"], c["block_size_y"], 1],
        "args": ["out:f32:16777216", "out:f32:19317000", "out:f32:225"],
        "blocks": 4,
    }


def convolution_with_constant_filter(c):
    job = convolution(c)
    job["defines"]["use_cmem"] = "1"
    return job


def gemm(c):
    fixed = {"KWG": 32, "KWI": 2, "STRM": 0, "STRN": 0, "PRECISION": 32}
    return {
        "kernel": "Xgemm",
        "defines": text(fixed | c),
        "grid": [4096 // c["MWG"], 4096 // c["NWG"], 1],
        "block": [c["MDIMC"], c["NDIMC"], 1],
        "args": ["i32:4096"] * 3 + ["f32:1", "f32:1"] + ["out:f32:16777216"] * 3,
        "blocks": 1,
    }


def dedispersion(c):
    c = {name: value for name, value in c.items() if name != "loop_unroll_factor_channel"}
    return {
        "kernel": "dedispersion_kernel",
        "defines": text(c),
        "grid": [ceil_div(25000, c["block_size_x"] * c["tile_size_x"]), ceil_div(2048, c["block_size_y"] * c["tile_size_y"]), 1],
        "block": [c["block_size_x"], c["block_size_y"], 1],
        "args": ["out:u8:39398400", "out:f32:51200000", "in:f32:{data}/shifts.bin"],
        "blocks": 1,
    }


def coulomb(c):
    block = [c["WORK_GROUP_SIZE_X"], c["WORK_GROUP_SIZE_Y"], 1]
    return {
        "kernel": "directCoulombSum",
        "defines": text(c),
        "flags": ["-use_fast_math"],
        "grid": [256 // block[0], 256 // block[1], 256 // c["Z_ITERATIONS"]],
        "block": block,
        "args": ["out:f32:256"] + ["out:f32:64"] * 4 + ["i32:64", "f32:0.5", "i32:256", "out:f32:16777216"],
        "blocks": 4,
    }


def ktt_convolution(c):
    return {
        "kernel": "Convolution",
        "defines": text(c),
        "grid": [ceil_div(4096, c["BLOCK_SIZE_X"] * c["TILE_SIZE_X"]), ceil_div(4096, c["BLOCK_SIZE_Y"] * c["TILE_SIZE_Y"]), 1],
        "block": [c["BLOCK_SIZE_X"], c["BLOCK_SIZE_Y"], 1],
        "args": ["out:f32:16777216", "out:f32:19317000", "out:f32:225"],
        "blocks": 4,
    }


def pnpoly_of_no_points(c):
    """The recording holds what blocks cost that return at once: no point was given."""
    return {
        "kernel": "cn_pnpoly",
        "defines": text(c),
        "grid": [ceil_div(20000000, c["block_size_x"] * c["tile_size"]), 1, 1],
        "block": [c["block_size_x"], 1, 1],
        "args": ["out:i32:32", "out:f32:64", "i32:0"],
        "blocks": 4,
    }


# name: (source file, launch, {GPU: recording}, role). The model's constants were chosen on half of the configurations
# of the spaces marked "calibration"; of the others only the clocks of GPUs (sustained_clock_ghz) were taken.
SPACES = {
    "coulomb_2080ti": ("coulomb.cu", coulomb, {"RTX 2080 Ti": "coulomb_rtx2080ti_counters.json.gz"}, "calibration"),
    "conv8_titan": ("conv8.cu", convolution, {"TITAN RTX": "conv8_titan.tsv.gz"}, "calibration"),
    "conv_a100": ("conv.cu", convolution_with_constant_filter, {"A100-PCIe-40GB": "conv_a100.tsv.gz"}, "calibration"),
    "gemm_2080ti": ("gemm.cu", gemm, {"RTX 2080 Ti": "gemm_2080ti.tsv.gz"}, "calibration"),
    "pnpoly_2080ti": ("pnpoly.cu", pnpoly_of_no_points, {"RTX 2080 Ti": "pnpoly_2080ti.tsv.gz"}, "calibration"),
    "ktt_conv_2080ti": ("ktt_conv.cu", ktt_convolution, {"RTX 2080 Ti": "KTConvolutionOutput_2080Ti.json.gz"}, "calibration"),
    "conv_ga10x": (
        "conv.cu",
        convolution_with_constant_filter,
        {"RTX A4000": "convolution_milo_A4000.json.gz", "RTX A6000": "convolution_milo_A6000.json.gz"},
        "GPU not seen",
    ),
    "conv8_3090": ("conv8.cu", convolution, {"RTX 3090": "convolution_RTX_3090.json.gz"}, "GPU not seen"),
    "gemm_3090": ("gemm.cu", gemm, {"RTX 3090": "gemm_RTX_3090.json.gz"}, "GPU not seen"),
    "dedispersion_a100": ("dedispersion.cu", dedispersion, {"A100-PCIe-40GB": "dedispersion_milo_A100.json.gz"}, "kernel not seen"),
    "dedispersion_ga10x": (
        "dedispersion.cu",
        dedispersion,
        {"RTX A4000": "dedispersion_milo_A4000.json.gz", "RTX A6000": "dedispersion_milo_A6000.json.gz"},
        "kernel and GPU not seen",
    ),
}


def read_recording(path):
    """[(parameters, milliseconds)] of every configuration that ran."""
    with gzip.open(path, "rt") as file:
        content = file.read()
    if path.name.endswith(".tsv.gz"):
        return from_table(content)
    # Kernel Tuner leaves its cache open at the end.
    content = content.rstrip()
    if '"cache"' in content[:20000] and not content.endswith("}\n}") and not content.endswith("}}"):
        content = content.rstrip(",") + "}}"
    record = json.loads(content)
    return from_kernel_tuner(record) if "cache" in record else from_ktt(record)


def from_table(content):
    lines = content.splitlines()
    names = lines[0].split("\t")
    rows = []
    for line in lines[1:]:
        row = dict(zip(names, line.split("\t")))
        if row["status"] == "ok":
            rows.append(({n: int(v) for n, v in row.items() if n not in ("status", "ms", "compile_ms")}, float(row["ms"])))
    return rows


def from_kernel_tuner(record):
    names = record["tune_params_keys"]
    return [({n: v[n] for n in names}, v["time"]) for v in record["cache"].values() if isinstance(v["time"], (int, float))]


def from_ktt(record):
    return [
        ({p["Name"]: p["Value"] for p in r["Configuration"]}, r["ComputationResults"][0]["Duration"] / 1000)
        for r in record["Results"]
        if r["Status"] == "Ok"
    ]
