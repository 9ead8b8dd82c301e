"""Servers for the tests of served models: a real mlserver, and one that misbehaves on request."""

import contextlib
import http.server
import json
import pathlib
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import numpy as np


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Mlserver:
    """mlserver in a folder of models; it can be stopped and started again on the same port."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.port, grpc, metrics = free_ports(3)
        (self.folder / "settings.json").write_text(json.dumps(
            {"host": "127.0.0.1", "http_port": self.port, "grpc_port": grpc, "metrics_port": metrics,
             "parallel_workers": 0, "debug": False}))
        self.process = None

    def add(self, name, model, **settings):
        import joblib

        (self.folder / name).mkdir()
        joblib.dump(model, self.folder / name / "model.joblib")
        (self.folder / name / "model-settings.json").write_text(json.dumps(
            {"name": name, "implementation": "mlserver_sklearn.SKLearnModel",
             "parameters": {"uri": "./model.joblib", "version": "v1"}, **settings}))

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/v2/models/{name}"

    def start(self, wait=True):
        program = pathlib.Path(sys.executable).parent / "mlserver"
        self.process = subprocess.Popen([program, "start", "."], cwd=self.folder, stdout=subprocess.DEVNULL,
                                        stderr=open(self.folder / "log.txt", "a"))
        while wait and not self.is_ready():
            assert self.process.poll() is None, (self.folder / "log.txt").read_text()
            time.sleep(0.1)

    def is_ready(self):
        with contextlib.suppress(OSError):
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v2/health/ready", timeout=1) as answer:
                return answer.status == 200
        return False

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.process = None


def linear(rows):
    return [sum((k + 1) * (v or 0) for k, v in enumerate(row)) for row in rows]


class Misbehaving:
    """Speaks the protocol for a linear model; `behave(number, request)` may return another answer.

    An answer is a dict (JSON), or (status, body, headers), or None for the right one; it may also sleep or raise
    `Cut` to end the connection in the middle of a body.
    """

    class Cut(Exception):
        pass

    def __init__(self, metadata=None, behave=None, context=None, outputs=None, port=0):
        self.metadata = metadata or {"name": "m", "platform": "test", "versions": ["1"],
                                     "inputs": [{"name": "x", "datatype": "FP64", "shape": [-1, 3]}],
                                     "outputs": [{"name": "y", "datatype": "FP64", "shape": [-1]}]}
        self.behave = behave or (lambda number, request: None)
        self.outputs = outputs or (lambda rows: [tensor("y", linear(rows))])
        self.requests = []
        self.headers = []
        self.connections = 0
        self.lock = threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self):
                outer.connections += 1
                super().setup()

            def log_message(self, *words):
                pass

            def reply(self, status, body, headers=()):
                body = body if isinstance(body, bytes) else body.encode()
                self.send_response(status)
                for key, value in dict(headers).items():
                    self.send_header(key, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                outer.headers.append(dict(self.headers))
                answer = outer.metadata
                if isinstance(answer, dict):
                    answer = (200, json.dumps(answer))
                self.reply(*answer)

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer.lock:
                    number = len(outer.requests)
                    outer.requests.append(request)
                    outer.headers.append(dict(self.headers))
                try:
                    answer = outer.behave(number, request)
                except Misbehaving.Cut:
                    self.send_response(200)
                    self.send_header("Content-Length", "1000")
                    self.end_headers()
                    self.wfile.write(b'{"outputs":[{"na')
                    self.close_connection = True
                    return
                if answer is None:
                    answer = {"model_name": "m", "model_version": "1", "outputs": outer.outputs(rows_of(request))}
                if isinstance(answer, dict):
                    answer = (200, json.dumps(answer))
                with contextlib.suppress(OSError):
                    self.reply(*answer)

        http.server.ThreadingHTTPServer.daemon_threads = True
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        if context is not None:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.scheme = "http" if context is None else "https"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"{self.scheme}://localhost:{self.server.server_port}/v2/models/m"

    def rows_sent(self):
        return [len(rows_of(request)) for request in self.requests]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def rows_of(request):
    inputs = [{**tensor, "data": [float(np.float32(v)) for v in tensor["data"]]} if tensor["datatype"] == "FP32" else tensor
              for tensor in request["inputs"]]
    if len(inputs) > 1:
        return list(zip(*(tensor["data"] for tensor in inputs)))
    count = inputs[0]["shape"][0]
    width = len(inputs[0]["data"]) // count
    return [inputs[0]["data"][r * width:(r + 1) * width] for r in range(count)]


def tensor(name, values, datatype="FP64"):
    shape = [len(values)] + ([len(values[0])] if isinstance(values[0], (list, tuple)) else [])
    flat = [v for row in values for v in row] if len(shape) > 1 else list(values)
    return {"name": name, "datatype": datatype, "shape": shape, "data": flat}
