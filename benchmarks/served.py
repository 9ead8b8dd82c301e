"""Rows per second of a served model: `hifi explain` against a bare client that sends the same requests.

    python benchmarks/served.py build/release

mlserver serves a scikit-learn model (linear, so that the server is as fast as it gets) and an XGBoost one. The run is first
recorded through a proxy, and its predictions are checked against the owner's. The bare client then sends the
recorded bodies again, byte for byte, over kept-alive connections with as many requests in flight, and does not look at
the answers. Both are timed in turns; `hifi` includes masking, formatting, parsing, losses and sums, from the first
request of the run to the end of the program. Best of three turns.
"""

import http.client
import http.server
import json
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from serving import Mlserver  # noqa: E402

HIFI = Path(sys.argv[1] if len(sys.argv) > 1 else "build/release") / "hifi"
PLAYERS, BUDGET, IN_FLIGHT, TURNS = 8, 4_000_000, 4, 3


def models():
    import xgboost
    from sklearn.linear_model import LinearRegression

    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, PLAYERS))
    y = x[:, 0] + x[:, 1] * x[:, 2] + 0.1 * rng.normal(size=len(x))
    boosted = xgboost.XGBRegressor(n_estimators=100, max_depth=6, n_jobs=1)
    return x, y, {"linear": LinearRegression().fit(x, y), "boosted": boosted.fit(x, y)}


def recorder(target):
    """Passes requests on to the server and keeps their bodies and answers."""
    kept, lock = [], threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *words):
            pass

        def pass_on(self, body=None):
            request = urllib.request.Request(f"http://127.0.0.1:{target}{self.path}", data=body,
                                             headers={"Content-Type": "application/json"})
            with urllib.request.urlopen(request) as answer:
                text = answer.read()
            if body is not None:
                with lock:
                    kept.append((body, text))
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def do_GET(self):
            self.pass_on()

        def do_POST(self):
            self.pass_on(self.rfile.read(int(self.headers["Content-Length"])))

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, kept


def explain(url, folder, *more):
    command = [HIFI, "explain", "--model", url, "--data", folder / "d.csv", "--target", "y", "--budget", str(BUDGET), "--verbose",
               "--threads", "2", *more]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    line = next(line for line in result.stderr.splitlines() if line.startswith("run "))
    return float(line.split()[1])  # seconds of the run itself


def replay(port, path, bodies):
    """The bare client: one connection per request in flight, the next body from a common list."""
    todo = iter(bodies)
    lock = threading.Lock()

    def work():
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.connect()
        while True:
            with lock:
                body = next(todo, None)
            if body is None:
                return
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200

    threads = [threading.Thread(target=work) for _ in range(IN_FLIGHT)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


def check(kept, model):
    rows = 0
    for body, answer in kept:
        sent = json.loads(body)["inputs"][0]
        got = np.array(json.loads(answer)["outputs"][0]["data"], float)
        np.testing.assert_allclose(got, model.predict(np.array(sent["data"], float).reshape(sent["shape"])), rtol=1e-6, atol=1e-9)
        rows += sent["shape"][0]
    return rows


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Mlserver(folder)
        x, y, served = models()
        for key, model in served.items():
            server.add(key, model, inputs=[{"name": "x", "datatype": "FP64", "shape": [-1, PLAYERS]}])
        header = ",".join([*(f"f{i}" for i in range(PLAYERS)), "y"])
        np.savetxt(folder / "d.csv", np.column_stack([x, y])[:500], "%.17g", ",", header=header, comments="")
        server.start()
        try:
            for key, model in served.items():
                measure(server, folder, key, model)
        finally:
            server.kill()


def measure(server, folder, key, model):
    proxy, kept = recorder(server.port)
    path = f"/v2/models/{key}"
    explain(f"http://127.0.0.1:{proxy.server_port}{path}", folder, "--json", folder / "a.json")
    explain(server.url(key), folder, "--json", folder / "b.json")
    proxy.shutdown()
    profiles = [json.loads((folder / f"{n}.json").read_text()) for n in "ab"]
    assert profiles[0]["features"] == profiles[1]["features"]
    check(kept, model)
    bodies = [body for body, _ in kept][5:]  # without the trials and the probe of the start
    rows = sum(json.loads(body)["inputs"][0]["shape"][0] for body in bodies)
    times = np.array([[explain(server.url(key), folder), replay(server.port, path + "/infer", bodies)] for _ in range(TURNS)])
    ours, bare = times.min(axis=0)
    print(f"{key}: {rows} rows in {len(bodies)} requests, {IN_FLIGHT} in flight: bare client {rows / bare:,.0f} rows/s, "
          f"hifi {rows / ours:,.0f} rows/s, {bare / ours:.0%} (median of the turns {np.median(times[:, 1] / times[:, 0]):.0%})", flush=True)


main()
