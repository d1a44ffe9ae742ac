"""The rows of run.py: what is measured, beside whom, the ratio to reach, and the memory that inputs and outputs take."""
from dataclasses import dataclass, field


@dataclass
class Row:
    group: str
    name: str
    what: str
    program: str  # programs/PROGRAM.dml
    peer: str = ""  # bare (python3 -S -c pass), lua, python, stream, itself; none: only memory is judged
    target: float = 0.0  # time of hopline / time of the peer; where at_least: bandwidth of hopline / bandwidth of the loop
    data_mb: float = 0.0  # inputs and outputs that live at the same time, in units of 2^20 bytes
    extra_mb: float = 0.0  # what the operator may use besides
    expression: str = ""  # takes the place of EXPRESSION in the program
    peer_expression: str = ""
    loop: str = ""  # of stream: read, scale, add
    at_least: bool = False
    whole: bool = False  # the process from begin to end is timed
    threads: int = 0  # 0: all
    arguments: dict = field(default_factory=dict)
    peer_arguments: dict = field(default_factory=dict)
    peer_scale: float = 1.0
    neighbour: bool = False


MB = 2.0**20
CELLS_MB = 25e6 * 8 / MB  # one matrix of cells.dml, pairs.dml, aggregate.dml


def scalars():
    return [
        Row("scalars", "startup", "a script of one line", "startup", "bare", 0.7, whole=True),
        Row("scalars", "scalar_loop", "10^7 iterations with a branch", "scalar_loop", "lua", 2.0),
        Row("scalars", "function_calls", "10^6 calls of small functions", "function_calls", "lua", 3.0),
        Row("scalars", "small_operators", "5 operators on 10 x 10, 10^5 times", "small_operators", "python", 0.5),
        Row("csv", "csv_read", "200 MB of dense csv", "csv_read", "python", 1.0, data_mb=(206e6 + 160e6) / MB),
    ]


def bandwidth():
    """Kernels that only move memory, against the loop of hopline-stream that moves as much."""
    rows = [Row("aggregates", name, "aggregate of 200 MB", "aggregate", "stream", 0.8, CELLS_MB, loop="read", at_least=True,
                expression=name + "(X)")
            for name in ("sum", "mean", "min", "max", "rowSums", "colSums", "rowMeans", "colMeans", "rowMaxs", "colMaxs",
                         "rowMins", "colMins")]
    rows += [Row("cells", name, "%s, 200 MB" % expression, "cells", "stream", 0.8, 2 * CELLS_MB, loop="scale", at_least=True,
                 expression=expression, arguments={"LOW": -8, "HIGH": 8})
             for name, expression in (("abs", "abs(X)"), ("negate", "-X"), ("round", "round(X)"), ("floor", "floor(X)"),
                                      ("ceil", "ceil(X)"), ("sign", "sign(X)"), ("not", "!X"), ("square", "X ^ 2"),
                                      ("sqrt", "sqrt(X)"), ("isNaN", "isNaN(X)"), ("scale", "X * 3"), ("plus_scalar", "X + 3"),
                                      ("greater_scalar", "X > 0.5"), ("equal_scalar", "X == 0.5"),
                                      ("less_scalar", "X <= 0.5"), ("max_scalar", "max(X, 0)"))]
    rows += [Row("pairs", name, "%s, twice 200 MB" % expression, "pairs", "stream", 0.8, 3 * CELLS_MB, loop="add",
                 at_least=True, expression=expression)
             for name, expression in (("greater", "X > Z"), ("equal", "X == Z"), ("not_equal", "X != Z"), ("plus", "X + Z"),
                                      ("times", "X * Z"), ("and", "X & Z"))]
    return rows


def functions():
    """Functions that compute, against PyTorch, which writes into the same result again and again."""
    domain = {"log": (0, 8), "asin": (-0.9, 1), "acos": (-0.9, 1), "tan": (-1.3, 1.5)}
    names = ("exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "sigmoid")
    return [Row("functions", name, "%s(X), 200 MB" % name, "cells", "python", 1.1, 2 * CELLS_MB,
                expression="1 / (1 + exp(-X))" if name == "sigmoid" else name + "(X)",
                peer_expression="torch.%s(X, out=Y)" % name,
                arguments=dict(zip(("LOW", "HIGH"), domain.get(name, (-7, 8)))))
            for name in names]


def sparse():
    """SciPy runs on one core. Its results are freed before the next, as ours are."""
    shapes = (
        ("sparse_dense", "sparse %*% dense", (2e6 * 12 + 200000 * 8 + 10000 * 64 * 8 + 200000 * 64 * 8) / MB),
        ("sparse_gram", "t(X) %*% X, sparse", (2e6 * 12 + 200000 * 8 + 2000 * 2000 * 8) / MB),
        ("sparse_plus", "sparse + sparse", (4 * 5e6 * 12 + 3 * 500000 * 8) / MB),
    )
    return [Row("sparse", "%s_%d" % (name, threads), "%s, %d thread%s" % (what, threads, "s"[:threads - 1]), name, "python",
                1.0 if threads == 1 else 1 / 1.6, data_mb, threads=threads)
            for name, what, data_mb in shapes for threads in (1, 2)]


def others():
    rows_mb = 20000 * 1000 * 8 / MB
    return [
        Row("index", "left_indexing", "time of a row: 20,000 / 5,000 rows", "left_indexing", "itself", 1.3, rows_mb,
            arguments={"ROWS": 20000}, peer_arguments={"ROWS": 5000}, peer_scale=4.0),
        # One of two cores is shared by halves, so three quarters of the machine are left: 4/3 of the time, and a tenth for noise.
        Row("neighbour", "neighbour", "a busy neighbour / alone", "busy", "itself", 4 / 3 * 1.1, 4 * 1000 * 1000 * 8 / MB,
            neighbour=True),
    ]


def memory():
    """Peak memory of operators that need a copy or keys. The numbers are those of the issue: inputs, outputs, what is allowed besides."""
    n = 2500
    square = n * n * 8 / MB
    tall = 100000 * 100 * 8 / MB
    small = 1200 * 1200 * 8 / MB
    column = 10000000 * 8 / MB
    squares = [Row("memory", "memory_" + name, "peak memory of " + name, "memory", data_mb=mb, extra_mb=square,
                   expression=text, arguments={"ROWS": n, "COLS": n})
               for name, text, mb in (("solve", "R = solve(A, A %*% matrix(1, rows=$COLS, cols=1))", square),
                                      ("inv", "R = inv(A)", 2 * square), ("lu", "[P, L, R] = lu(A)", 4 * square))]
    return squares + [
        Row("memory", "memory_qr", "peak memory of qr", "memory", data_mb=2 * tall + 100 * 100 * 8 / MB, extra_mb=tall,
            expression="[Q, R] = qr(A)", arguments={"ROWS": 100000, "COLS": 100}),
        Row("memory", "memory_svd", "peak memory of svd", "memory", data_mb=2 * tall, extra_mb=tall,
            expression="[R, S, V] = svd(A)", arguments={"ROWS": 100000, "COLS": 100}),
        Row("memory", "memory_eigen", "peak memory of eigen", "memory", data_mb=2 * small, extra_mb=small,
            expression="A = (A + t(A)) / 2; [R, V] = eigen(A)", arguments={"ROWS": 1200, "COLS": 1200}),
        Row("memory", "memory_order", "peak memory of order", "memory", data_mb=2 * column, extra_mb=10000000 * 16 / MB,
            expression="R = order(target=A, by=1)", arguments={"ROWS": 10000000, "COLS": 1}),
        Row("memory", "memory_order_index", "peak memory of order, indexes", "memory", data_mb=2 * column,
            extra_mb=10000000 * 16 / MB, expression="R = order(target=A, by=1, index.return=TRUE)",
            arguments={"ROWS": 10000000, "COLS": 1}),
    ]


ROWS = scalars() + bandwidth() + functions() + sparse() + others() + memory()
