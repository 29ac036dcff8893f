"""Ready ops on torch tensors, by ctypes: each is checked against torch.

    LIBTMARING=build/libtmaring.so python3 docs/examples/torch_ops.py

The binding is `Ops`: it knows an op's tensors and scalars from the catalogue, so it has every op of the library.
Tensors come as in C, outputs first: ops.rmsnorm(y, x, w, eps=1e-6).
"""
import ctypes
import os
import sys

import torch
import torch.nn.functional as F

DTYPES = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2, torch.float64: 3, torch.float8_e4m3fn: 4,
          torch.float8_e5m2: 5, torch.int8: 6, torch.int32: 7, torch.int64: 8}
ROW, COLUMN, MATRIX, GROUP, DOUBLE = 1, 2, 3, 4, 5  # tmaring_shape
ONE_VALUE = -1
PREPARE = 0x10000
MAX_TENSORS, MAX_SCALARS = 6, 3


class View(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("data", ctypes.c_void_p), ("dtype", ctypes.c_int)] + [
        (name, ctypes.c_int64) for name in ("rows", "cols", "pitch", "step", "group_rows", "group_pitch")]


class Call(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("backend", ctypes.c_int), ("workspace", ctypes.c_void_p),
                ("workspace_bytes", ctypes.c_size_t), ("rows_device", ctypes.c_void_p), ("flags", ctypes.c_uint32)]


class Parameter(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("shape", ctypes.c_int),
                ("is_output", ctypes.c_int32), ("has_default", ctypes.c_int32), ("default_value", ctypes.c_double),
                ("group_cols", ctypes.c_int32)]


class Info(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("group", ctypes.c_char_p),
                ("formula", ctypes.c_char_p), ("alias", ctypes.c_char_p), ("output_count", ctypes.c_int32),
                ("tensor_count", ctypes.c_int32), ("scalar_count", ctypes.c_int32),
                ("tensor", Parameter * MAX_TENSORS), ("dtypes", ctypes.c_uint32 * MAX_TENSORS),
                ("dtype", ctypes.c_int32 * MAX_TENSORS), ("ahead", ctypes.c_uint32),
                ("scalar", Parameter * MAX_SCALARS)]


def view(tensor, shape):
    """How a tensor lies in memory. [tokens, heads, d] is a matrix of tokens * heads rows."""
    v = View(ctypes.sizeof(View), tensor.data_ptr(), DTYPES[tensor.dtype])
    stride = tensor.stride()
    if shape == ROW:
        assert stride[0] == 1, "a row vector is contiguous"
        v.rows, v.cols = 1, tensor.shape[0]
    elif shape == COLUMN:
        v.rows, v.cols = tensor.numel(), 1
        v.pitch = ONE_VALUE if tensor.dim() == 0 else stride[0]
    elif shape == GROUP:
        v.rows, v.cols, v.pitch, v.step = tensor.shape[0], tensor.shape[1], stride[0], stride[1]
    else:
        assert stride[-1] == 1, "the elements of a row are contiguous"
        v.rows, v.cols, v.pitch = tensor.numel() // tensor.shape[-1], tensor.shape[-1], stride[-2]
        if tensor.dim() == 3:
            v.group_rows, v.group_pitch = tensor.shape[1], stride[0]
    return v


class Ops:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.tmaring_last_detail.restype = ctypes.c_char_p
        self.library.tmaring_status_name.restype = ctypes.c_char_p
        self.workspace = torch.empty(0, dtype=torch.uint8, device="cuda")

    def check(self, status):
        if status != 0:
            raise RuntimeError(f"{self.library.tmaring_status_name(status).decode()}: "
                               f"{self.library.tmaring_last_detail().decode()}")

    def describe(self, name):
        index = self.library.tmaring_op_find(name.encode())
        if index < 0:
            raise AttributeError(f"the library has no op {name}")
        info = Info(size=ctypes.sizeof(Info))
        self.check(self.library.tmaring_op_describe(index, ctypes.byref(info)))
        return index, info

    def reserve(self, index, views, count, call):
        """Column reductions need a workspace. One serves all ops of a stream; it grows with the largest."""
        needs = ctypes.c_size_t()
        self.check(self.library.tmaring_op_workspace_bytes(index, views, count, ctypes.byref(call),
                                                           ctypes.byref(needs)))
        if needs.value > self.workspace.numel():
            self.workspace = torch.empty(needs.value, dtype=torch.uint8, device="cuda")
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            self.check(self.library.tmaring_op_workspace_init(ctypes.c_void_p(self.workspace.data_ptr()), needs, 0,
                                                              stream))

    def __getattr__(self, name):
        index, info = self.describe(name)
        names = [info.scalar[i].name.decode() for i in range(info.scalar_count)]
        shapes = [info.tensor[i].shape for i in range(info.tensor_count)]
        sums_columns = any(shape == ROW for shape in shapes[:info.output_count])

        def run(*tensors, flags=0, **scalars):
            assert len(tensors) == info.tensor_count, f"{name} takes {info.tensor_count} tensors: {info.formula}"
            missing = [n for i, n in enumerate(names) if n not in scalars and not info.scalar[i].has_default]
            assert not missing and set(scalars) <= set(names), f"{name} takes scalars {names}: {info.formula}"
            kept = [view(t, shape) for t, shape in zip(tensors, shapes)]
            views = (ctypes.POINTER(View) * len(kept))(*[ctypes.pointer(v) for v in kept])
            values = (ctypes.c_double * max(1, len(names)))(
                *[scalars.get(n, info.scalar[i].default_value) for i, n in enumerate(names)])
            call = Call(size=ctypes.sizeof(Call), flags=flags)
            if sums_columns:
                self.reserve(index, views, len(kept), call)
                call.workspace, call.workspace_bytes = self.workspace.data_ptr(), self.workspace.numel()
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            self.check(self.library.tmaring_op_launch(index, views, len(kept), values, ctypes.byref(call), stream))

        setattr(self, name, run)
        return run


passed = failed = 0


def report(name, good, text):
    global passed, failed
    passed, failed = passed + good, failed + (not good)
    print(f"{'ok    ' if good else 'FAILED'} {name:32} {text}")


def near(name, got, want, tolerance):
    """Largest error beside the size of the values."""
    error = ((got.double() - want.double()).abs() / (1 + want.double().abs())).max().item()
    report(name, error <= tolerance, f"largest error {error:.2e}, allowed {tolerance:.0e}")


def same_codes(name, got, want):
    """Codes may differ by one next to a midpoint."""
    a, b = got.view(torch.int8).int(), want.view(torch.int8).int()
    differing, most = (a != b).double().mean().item(), (a - b).abs().max().item()
    report(name, differing < 0.002 and most <= 1, f"{differing:.4%} of the codes differ, by {most} at most")


BF16, ROUNDING = torch.bfloat16, 8e-3


def random(*shape, dtype=BF16):
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)


def like(x, dtype=None):
    return torch.empty_like(x, dtype=dtype or x.dtype)


def check_pointwise(ops):
    a, b = random(257, 4096), random(257, 4096)
    y = like(a)
    ops.add(y, a, b)
    near("add", y, a.float() + b.float(), ROUNDING)
    ops.axpby(y, a, b, alpha=0.5, beta=-2.0)
    near("axpby", y, 0.5 * a.float() - 2.0 * b.float(), ROUNDING)
    ops.silu(y, a)
    near("silu", y, F.silu(a.float()), ROUNDING)
    ops.gelu_tanh(y, a)
    near("gelu_tanh", y, F.gelu(a.float(), approximate="tanh"), ROUNDING)
    ops.gelu_erf(y, a)
    near("gelu_erf", y, F.gelu(a.float()), ROUNDING)
    wide = like(a, torch.float32)
    ops.cast(wide, a)
    near("cast", wide, a.float(), 0.0)
    ops.fill(y, value=2.5)
    near("fill", y, torch.full_like(y, 2.5), 0.0)


def check_reductions(ops):
    x = random(257, 4096, dtype=torch.float32)
    rows = torch.empty(257, device="cuda")
    for name, want in [("row_sum", x.double().sum(1)), ("row_mean", x.double().mean(1)), ("row_max", x.amax(1)),
                       ("row_min", x.amin(1)), ("row_amax", x.abs().amax(1))]:
        getattr(ops, name)(rows, x)
        near(name, rows, want, 5e-5)
    index = torch.empty(257, dtype=torch.int64, device="cuda")
    ops.row_argmax(index, x)
    report("row_argmax", bool((index == x.argmax(1)).all()), "columns are equal")
    cols = torch.empty(4096, device="cuda")
    for name, want in [("col_sum", x.double().sum(0)), ("col_mean", x.double().mean(0)), ("col_max", x.amax(0))]:
        getattr(ops, name)(cols, x)
        near(name, cols, want, 5e-5)


def check_norms(ops):
    x, r, w, b = random(257, 4096), random(257, 4096), random(4096), random(4096)
    y, h = like(x), like(x)
    ops.rmsnorm(y, x, w, eps=1e-6)
    near("rmsnorm", y, F.rms_norm(x.float(), (4096,), w.float(), 1e-6), ROUNDING)
    ops.add_rmsnorm(h, y, x, r, w, eps=1e-6)
    near("add_rmsnorm: h", h, x + r, 0.0)
    near("add_rmsnorm: y", y, F.rms_norm((x + r).float(), (4096,), w.float(), 1e-6), ROUNDING)
    ops.layernorm(y, x, w, b, eps=1e-5)
    near("layernorm", y, F.layer_norm(x.float(), (4096,), w.float(), b.float(), 1e-5), ROUNDING)
    qkv = random(133, 48 * 128)  # heads inside of a wider buffer
    q, out, head = qkv[:, :4096].view(133, 32, 128), torch.empty(133, 32, 128, device="cuda", dtype=BF16), random(128)
    ops.rmsnorm(out, q, head, eps=1e-6)
    near("rmsnorm of heads", out, F.rms_norm(q.float(), (128,), head.float(), 1e-6), ROUNDING)


def check_softmax(ops):
    for cols in (4096, 32001):
        x = 4 * random(64, cols)
        y = like(x, torch.float32)
        ops.softmax(y, x)
        near(f"softmax, N = {cols}", y, x.double().softmax(1), 5e-6)
        ops.log_softmax(y, x)
        near(f"log_softmax, N = {cols}", y, x.double().log_softmax(1), 1e-5)
        ops.softmax_scaled(y, x, temperature=0.7)
        near(f"softmax_scaled, N = {cols}", y, (x.double() / 0.7).softmax(1), 5e-6)
        label = torch.randint(0, cols, (64,), device="cuda")
        label[3] = -100
        loss = torch.empty(64, device="cuda")
        ops.cross_entropy(loss, x, label)
        near(f"cross_entropy, N = {cols}", loss, F.cross_entropy(x.float(), label, reduction="none"), 1e-5)


def check_gated(ops):
    x = random(128, 2 * 14336)
    gate, up = x.float().chunk(2, 1)
    y = torch.empty(128, 14336, device="cuda", dtype=BF16)
    ops.silu_mul(y, x)
    near("silu_mul", y, F.silu(gate) * up, ROUNDING)
    ops.gelu_mul(y, x)
    near("gelu_mul", y, F.gelu(gate, approximate="tanh") * up, ROUNDING)
    even, odd = x.float()[:, 0::2].clamp(max=7.0), x.float()[:, 1::2].clamp(-7.0, 7.0)
    ops.swiglu_clamp_interleaved(y, x, limit=7.0, alpha=1.702, beta=1.0)
    near("swiglu_clamp_interleaved", y, even * torch.sigmoid(1.702 * even) * (odd + 1.0), ROUNDING)


def check_quantizers(ops):
    x = random(257, 4096)
    q, s = like(x, torch.float8_e4m3fn), torch.empty(257, device="cuda")
    ops.quantize_fp8_row(s, q, x)
    scale = (x.float().abs().amax(1) / 448).clamp(min=1 / (448 * 512))
    near("quantize_fp8_row: s", s, scale, 1e-6)
    same_codes("quantize_fp8_row: q", q, (x.float() / scale[:, None]).to(torch.float8_e4m3fn))
    back = like(x)
    ops.dequantize_fp8_row(back, q, s)
    near("dequantize_fp8_row", back, q.float() * s[:, None], ROUNDING)
    one = torch.tensor(0.0125, device="cuda")
    ops.quantize_fp8(q, x, one)
    same_codes("quantize_fp8, one scale", q, (x.float() / one).clamp(-448, 448).to(torch.float8_e4m3fn))
    groups = torch.empty(32, 257, device="cuda").t()  # by columns
    ops.quantize_fp8_group(groups, q, x)
    scale = x.float().view(257, 32, 128).abs().amax(2).clamp(min=1e-10) / 448
    near("quantize_fp8_group: s", groups, scale, 1e-6)
    same_codes("quantize_fp8_group: q", q, (x.float() / scale.repeat_interleave(128, 1)).to(torch.float8_e4m3fn))
    codes = like(x, torch.int8)
    ops.quantize_i8_row(s, codes, x)
    scale = x.float().abs().amax(1).clamp(min=1e-10) / 127
    same_codes("quantize_i8_row: q", codes, (x.float() / scale[:, None]).round().clamp(-127, 127).to(torch.int8))


def check_gradients(ops):
    dy, x = random(515, 4096, dtype=torch.float32), random(515, 4096, dtype=torch.float32)
    w, b = random(4096, dtype=torch.float32), random(4096, dtype=torch.float32)
    dx, dw, db = like(x), like(w), like(b)
    xs, ws, bs = (t.double().requires_grad_() for t in (x, w, b))
    F.rms_norm(xs, (4096,), ws, 1e-6).backward(dy.double())
    ops.rmsnorm_backward(dx, dw, dy, x, w, eps=1e-6)
    near("rmsnorm_backward: dx", dx, xs.grad, 1e-5)
    near("rmsnorm_backward: dw", dw, ws.grad, 5e-5)
    xs.grad = ws.grad = None
    F.layer_norm(xs, (4096,), ws, bs, 1e-5).backward(dy.double())
    ops.layernorm_backward(dx, dw, db, dy, x, w, eps=1e-5)
    near("layernorm_backward: dx", dx, xs.grad, 1e-5)
    near("layernorm_backward: dw", dw, ws.grad, 5e-5)
    near("layernorm_backward: db", db, bs.grad, 5e-5)


def check_graph(ops):
    """A call under capture must be known: made once before, or prepared."""
    x, w = random(96, 5120), random(5120)
    y = like(x)
    ops.rmsnorm(y, x, w, eps=1e-6, flags=PREPARE)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        ops.rmsnorm(y, x, w, eps=1e-6)
    x.copy_(random(96, 5120))
    graph.replay()
    near("rmsnorm in a graph", y, F.rms_norm(x.float(), (5120,), w.float(), 1e-6), ROUNDING)


def main():
    torch.manual_seed(1)
    ops = Ops(os.environ.get("LIBTMARING", "libtmaring.so"))
    for part in (check_pointwise, check_reductions, check_norms, check_softmax, check_gated, check_quantizers,
                 check_gradients, check_graph):
        part(ops)
    torch.cuda.synchronize()
    ops.library.tmaring_ops_reset()
    print(f"torch_ops: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
