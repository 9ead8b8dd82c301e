"""Served models, against a small server that does what no good server does."""

import re
import signal
import ssl
import subprocess
import threading
import time

import numpy as np
import pytest

from conftest import HIFI, write_csv
from oracle import LOSSES, check
from serving import Misbehaving, linear, rows_of, tensor

QUICK = {"HIFI_HTTP_RETRIES": "2", "HIFI_HTTP_TIMEOUT": "5"}


@pytest.fixture
def serve():
    servers = []

    def start(*words, **options):
        servers.append(Misbehaving(*words, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(30, 3))
    y = x @ [1, 2, 3] + rng.normal(size=30)
    write_csv(tmp_path / "d.csv", {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y})
    return x, y


def flags(url, *more):
    return ["explain", "--model", url, "--data", "d.csv", "--target", "y", *more]


def owner(rows):
    return rows @ [1, 2, 3]


def test_the_profile_is_that_of_the_model(data, serve, profile):
    x, y = data
    server = serve()
    check(profile(*flags(server.url, "--exact")), owner, x, y, x, LOSSES["squared"], tie=1e-9)
    assert server.connections <= 8  # kept alive
    form = {(r["inputs"][0]["name"], r["inputs"][0]["datatype"]) for r in server.requests}
    assert form == {("x", "FP64")}


def test_batch_caps_the_rows_of_a_request(data, serve, hifi):
    server = serve()
    hifi(*flags(server.url, "--exact", "--batch", 100, "--quiet"))
    rows = server.rows_sent()
    assert max(rows) <= 100
    # 7,200 evaluations of 30 x 30 pairs. Identical rows go once in eight requests' worth of evaluations, so
    # hardly any request is small.
    assert len([r for r in rows[6:] if r < 50]) <= 2


def test_same_bytes_for_any_threads_and_requests_in_flight(data, serve, hifi):
    server = serve()
    found = {hifi(*flags(server.url, "--exact", "--batch", 60, "--threads", threads, "--json", "-"),
                  env={"HIFI_HTTP_REQUESTS": requests}).stdout
             for threads, requests in ((1, "1"), (1, "4"), (3, "2"), (2, "16"))}
    assert len(found) == 1


def test_requests_in_flight(data, serve, hifi):
    most, now, lock = [0], [0], threading.Lock()

    def count(number, request):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.01)
        with lock:
            now[0] -= 1

    server = serve(behave=count)
    for limit in (1, 3):
        most[0] = 0
        hifi(*flags(server.url, "--budget", 4000, "--batch", 20, "--threads", 2, "--quiet"),
             env={"HIFI_HTTP_REQUESTS": str(limit)})
        assert most[0] == limit


def inputs(*columns):
    return {"name": "m", "inputs": [{"name": n, "datatype": t, "shape": s} for n, t, s in columns]}


def test_several_inputs_are_bound_by_name(data, serve, profile):
    x, y = data
    server = serve(metadata=inputs(("c", "FP64", [-1, 1]), ("a", "FP32", [-1])))
    found = profile(*flags(server.url, "--exact"))

    def model(rows):
        return rows[:, 0] + 2 * rows[:, 1].astype(np.float32).astype(float)

    assert found["players"] == ["c", "a"]
    check(found, model, x[:, [2, 0]], y, x[:, [2, 0]], LOSSES["squared"], tie=1e-9)
    sent = server.requests[0]["inputs"]
    assert [(t["name"], t["datatype"], t["shape"]) for t in sent] == [("c", "FP64", [2, 1]), ("a", "FP32", [2])]


def test_a_server_that_declares_nothing(data, serve, profile):
    x, y = data
    server = serve(metadata={"name": "m", "inputs": [], "outputs": []})
    check(profile(*flags(server.url, "--exact")), owner, x, y, x, LOSSES["squared"], tie=1e-9)


def classifier(rows):
    p = 1 / (1 + np.exp(-owner(np.array(rows))))
    return [tensor("label", [int(v > 0.5) for v in p], "INT64"), tensor("probabilities", [[1 - v, v] for v in p]),
            tensor("word", ["a"] * len(p), "BYTES")]


def test_outputs(data, serve, hifi, profile):
    server = serve(metadata=inputs(("x", "FP64", [-1, 3])), outputs=classifier)

    def outputs(*more, **options):
        return profile("explain", "--model", server.url, "--data", "d.csv", "--target", "y", "--loss", "prediction",
                       *more, **options)

    assert outputs("--class", 1) == outputs("--class", 1, "--output", "probabilities")
    assert outputs("--class", 1)["features"] == outputs("--class", 1, "--output", 1)["features"]
    assert server.requests[-1].get("outputs") is None  # an index of what is not declared is not asked by name
    assert outputs("--output", "label")["features"] == outputs("--output", 0)["features"]
    assert any(r.get("outputs") == [{"name": "label"}] for r in server.requests)
    assert "\"word\" has datatype BYTES" in hifi(*flags(server.url, "--output", "word"), code=3).stderr
    error = hifi(*flags(server.url, "--output", "nothing"), code=3).stderr
    assert "--output nothing" in error and "\"label\", \"probabilities\", \"word\"" in error
    assert "has 3 outputs" in hifi(*flags(server.url, "--output", 3), code=3).stderr
    server.outputs = lambda rows: [tensor("p", linear(rows)), tensor("q", linear(rows))]
    assert "has 2 outputs: \"p\", \"q\"" in hifi(*flags(server.url), code=3).stderr


def test_single_precision(data, serve, profile):
    x, y = data
    server = serve(metadata=inputs(("x", "FP32", [-1, 3])),
                   outputs=lambda rows: [tensor("y", [float(np.float32(v)) for v in linear(rows)], "FP32")])

    def single(rows):
        return owner(rows.astype(np.float32).astype(float)).astype(np.float32).astype(float)

    check(profile(*flags(server.url, "--exact")), single, x, y, x, LOSSES["squared"], tie=5e-5)
    sent = server.requests[0]["inputs"][0]["data"]
    assert sent[:3] == [float(str(np.float32(v))) for v in x[0]]


def test_missing_values_are_null(data, serve, hifi, tmp_path):
    write_csv(tmp_path / "d.csv", {"a": [1.0, None, 3.0], "b": [1, 2, 3], "c": [1, 1, 2], "y": [1, 2, 3]})
    server = serve()
    hifi(*flags(server.url, "--quiet"))
    assert any(None in r["inputs"][0]["data"] for r in server.requests)
    server.behave = lambda n, r: (400, '{"error":"no nulls"}') if None in r["inputs"][0]["data"] else None
    error = hifi(*flags(server.url), code=3).stderr
    assert 'missing values' in error and 'column "a"' in error and "data row 2" in error and "no nulls" in error
    server.metadata = inputs(("a", "INT64", [-1]), ("b", "INT64", [-1]), ("c", "FP64", [-1]))
    error = hifi(*flags(server.url), code=3).stderr
    assert 'data row 2, column "a"' in error and "takes INT64, not a missing value" in error


def test_whole_numbers(data, serve, hifi, tmp_path):
    write_csv(tmp_path / "d.csv", {"a": [1, 2, 4], "b": [1, 0, 1], "c": [0.5, 1, 2], "y": [1, 2, 3]})
    server = serve(metadata=inputs(("a", "INT32", [-1]), ("b", "BOOL", [-1]), ("c", "FP64", [-1])))
    hifi(*flags(server.url, "--quiet"))
    sent = server.requests[0]["inputs"]
    assert sent[0]["data"] == [1, 2] and sent[1]["data"] == [True, False]
    error = hifi(*flags(server.url, "--background", "mean"), code=3).stderr
    assert "--background mean: row 1" in error and "INT32, not 2.33" in error


UNFIT = [
    (inputs(("x", "BYTES", [-1, 3])), "datatype BYTES"),
    (inputs(("x", "FP16", [-1, 3])), "datatype FP16"),
    (inputs(("x", "FP64", [-1, 3, 2])), r"shape \[-1, 3, 2\]"),
    (inputs(("x", "FP64", [1, 3])), r"shape \[1, 3\]"),
    (inputs(("x", "FP64", [])), r"shape \[\]"),
    (inputs(("x", "FP64", [-1, 2]), ("a", "FP64", [-1])), r"shape \[-1, 2\]"),
    (inputs(("x", "FP64", [-1, 5])), "expects 5"),
    (inputs(("a", "FP64", [-1]), ("z", "FP64", [-1])), 'no column "z"'),
    ({"hello": 1}, "metadata"),
    ((200, "<html>hi"), "but with HTML"),
    ((200, ""), "but with nothing"),
    ((404, '{"error":"Model m not found"}'), "answers 404: Model m not found"),
    ((401, "who are you"), "answers 401.*HIFI_HTTP_TOKEN"),
    ((302, "", {"Location": "https://elsewhere/v2?token=secret"}), "answers 302, a redirect to https://elsewhere/v2 "),
]


@pytest.mark.parametrize("metadata, message", UNFIT, ids=[m for _, m in UNFIT])
def test_what_does_not_fit(data, serve, hifi, tmp_path, metadata, message):
    server = serve(metadata=metadata)
    error = hifi(*flags(server.url, "--out", "run.hifi"), code=3)
    assert one_line(error, message)
    assert "secret" not in error.stderr and not (tmp_path / "run.hifi").exists()


def one_line(result, message):
    assert result.stdout == "" and result.stderr.count("\n") == 1 and result.stderr.startswith("hifi: ")
    assert re.search(message, result.stderr.replace("\n", " ")), result.stderr
    return True


def answer(**changes):
    """The right answer with other fields in its tensor."""
    return lambda r: {"model_version": "1", "outputs": [{**tensor("y", linear(rows_of(r))), **changes}]}


def huge(r):
    return 200, b'{"outputs":[{"name":"y","data":[' + b"1," * 4_000_000 + b"1]}]}"


def cut(r):
    raise Misbehaving.Cut


MIDDLE = [
    (lambda r: (500, '{"error":"it broke"}'), "answers 500: it broke"),
    (lambda r: (500, "x" * 100_000), "answers 500: xxx"),
    (lambda r: (200, "<!DOCTYPE html><html>"), "HTML, not JSON"),
    (lambda r: (200, ""), "the answer is empty"),
    (lambda r: (200, '{"outputs":[{"name":"y","shape":[1],"datatype":"FP64","data":[NaN]}]}'), "broken JSON"),
    (lambda r: {"outputs": []}, "version"),
    (answer(name="z"), 'no output "y"'),
    (answer(shape=[1]), "has shape"),
    (lambda r: {"model_version": "1", "outputs": [tensor("y", linear(rows_of(r))[:-1] or [1, 2])]}, "has shape"),
    (lambda r: {"model_version": "1", "outputs": [tensor("y", [[v, v] for v in linear(rows_of(r))])]}, "has shape"),
    (lambda r: {"model_version": "1", "outputs": [tensor("y", [None] * len(rows_of(r)))]}, "is null for row 1"),
    (lambda r: {"model_version": "2", "outputs": [tensor("y", linear(rows_of(r)))]}, 'version "2" answers'),
    (lambda r: {"model_version": "1", "outputs": [tensor("y", ["a"] * len(rows_of(r)))]}, "no number"),
    (lambda r: (400, '{"detail":"bad rows"}'), "answers 400: bad rows"),
    (lambda r: (413, ""), "answers 413.*--batch"),
    (lambda r: (503, "later"), "answers 503: later"),
    (lambda r: (307, "", {"Location": "/x"}), "answers 307, a redirect to http://localhost"),
    (lambda r: time.sleep(3), "no answer after 0.3 s.*HIFI_HTTP_TIMEOUT"),
    (huge, "longer than any"),
    (cut, "cannot be reached|closed"),
]


@pytest.mark.parametrize("wrong, message", MIDDLE, ids=[m for _, m in MIDDLE])
def test_failures_in_the_middle_are_resumed(data, serve, hifi, tmp_path, wrong, message):
    server = serve()
    run = flags(server.url, "--budget", 2400, "--batch", 20)
    hifi(*run, "--out", "whole.hifi", "--json", "whole.json", "--quiet")
    requests = len(server.requests)
    server.requests.clear()
    server.behave = lambda number, r: wrong(r) if number >= requests // 2 else None
    timeout = "0.3" if "no answer" in message else "5"
    failed = hifi(*run, "--out", "run.hifi", "--json", "p.json", "--quiet", code=4,
                  env={"HIFI_HTTP_RETRIES": "1", "HIFI_HTTP_TIMEOUT": timeout})
    assert one_line(failed, message) and len(failed.stderr) < 900
    assert "hifi resume run.hifi" in failed.stderr and not (tmp_path / "p.json").exists()
    server.behave = lambda number, r: None
    hifi("resume", "run.hifi", "--json", "p.json", "--quiet")
    assert (tmp_path / "p.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


def test_what_passes_is_asked_again(data, serve, hifi, tmp_path):
    server = serve()
    run = flags(server.url, "--exact", "--batch", 40, "--json", "-", "--quiet")
    whole = hifi(*run).stdout
    bad = {5: lambda r: (503, ""), 9: lambda r: (429, "", {"Retry-After": "1"}), 14: lambda r: (502, ""),
           20: lambda r: (504, ""), 25: cut, 30: lambda r: time.sleep(0.6)}
    server.requests.clear()
    server.behave = lambda number, r: bad[number](r) if number in bad else None
    start = time.time()
    assert hifi(*run, env={"HIFI_HTTP_TIMEOUT": "0.3"}).stdout == whole
    assert time.time() - start > 1  # as the server asked


def test_another_model_that_comes_back_is_noticed(data, serve, hifi):
    server = serve()

    def change(number, r):
        if number == 12:
            raise Misbehaving.Cut
        if number > 12:
            return {"model_version": "1", "outputs": [tensor("y", [v + 1 for v in linear(rows_of(r))])]}

    server.behave = change
    error = hifi(*flags(server.url, "--exact", "--batch", 40, "--quiet"), code=4, env=QUICK)
    assert one_line(error, "another model came back: data row 1 gets")


def test_a_run_is_not_resumed_with_another_model(data, serve, hifi):
    server = serve()
    server.behave = lambda number, r: (500, "") if number > 12 else None
    hifi(*flags(server.url, "--exact", "--batch", 40, "--out", "run.hifi"), code=4)
    server.behave = lambda number, r: {"model_version": "1", "outputs": [tensor("y", [1] * len(rows_of(r)))]}
    assert "model/hash" in hifi("resume", "run.hifi", code=3).stderr


def test_a_model_that_is_not_deterministic(data, serve, hifi):
    server = serve(behave=lambda number, r: {"model_version": "1", "outputs": [
        tensor("y", [v + number * 1e-9 for v in linear(rows_of(r))])]})
    assert one_line(hifi(*flags(server.url), code=4), "not deterministic: data row 1")


def test_check_predictions(data, serve, hifi, tmp_path):
    x, _ = data
    server = serve()
    write_csv(tmp_path / "p.csv", {"p": owner(x)})
    hifi(*flags(server.url, "--check-predictions", "p.csv", "--quiet"))
    write_csv(tmp_path / "p.csv", {"p": owner(x) + (np.arange(30) == 6)})
    assert "data row 7: we predict" in hifi(*flags(server.url, "--check-predictions", "p.csv"), code=4).stderr


def test_a_server_that_is_down(data, serve, hifi):
    server = serve()
    server.close()
    start = time.time()
    assert one_line(hifi(*flags(server.url), code=4), "cannot be reached.*is the server up")
    assert time.time() - start < 10
    error = hifi(*flags("http://no.such.host.invalid/v2/models/m"), code=4, env={"HIFI_HTTP_RETRIES": "0"})
    assert one_line(error, "cannot be reached")


@pytest.mark.parametrize("url", ["http://me:secret@localhost/v2/models/m", "http://localhost/v2/models/m?key=secret"])
def test_secrets_in_addresses_are_refused(data, hifi, url):
    error = hifi(*flags(url), code=3)
    assert one_line(error, "HIFI_HTTP_TOKEN") and "secret" not in error.stderr


def test_the_token_is_sent_and_never_written(data, serve, hifi, tmp_path):
    server = serve()
    token = "s3cr3t-token"
    server.behave = lambda number, r: (403, f'{{"error":"{token} is not enough"}}') if number > 12 else None
    failed = hifi(*flags(server.url, "--exact", "--batch", 40, "--out", "run.hifi", "--verbose"), code=4,
                  env={"HIFI_HTTP_TOKEN": token})
    assert "[token] is not enough" in failed.stderr
    assert {h.get("Authorization") for h in server.headers} == {f"Bearer {token}"}
    server.behave = lambda number, r: None
    resumed = hifi("resume", "run.hifi", "--json", "p.json", env={"HIFI_HTTP_TOKEN": token})
    written = failed.stderr + resumed.stdout + resumed.stderr + "".join(
        p.read_bytes().decode("latin-1") for p in tmp_path.iterdir())
    assert token not in written
    error = hifi(*flags(server.url), code=3, env={"HIFI_HTTP_TOKEN": "two\nlines"}).stderr
    assert "HIFI_HTTP_TOKEN" in error and "lines" not in error


@pytest.mark.parametrize("name, value", [("TIMEOUT", "soon"), ("RETRIES", "-1"), ("REQUESTS", "0"), ("CA", "/no/file")])
def test_settings(data, serve, hifi, name, value):
    assert f"HIFI_HTTP_{name}" in hifi(*flags(serve().url), code=3, env={f"HIFI_HTTP_{name}": value}).stderr


@pytest.fixture
def certificate(tmp_path):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out",
                    "cert.pem", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
                   cwd=tmp_path, check=True, capture_output=True)
    return tmp_path / "cert.pem"


def test_tls_beside_arrow(data, serve, profile, hifi, certificate, tmp_path):
    """Parquet brings an OpenSSL of its own into the process; libcurl must use the system's."""
    import pyarrow.csv
    import pyarrow.parquet

    x, y = data
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(tmp_path / "d.csv"), tmp_path / "d.parquet")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    server = serve(context=context)
    run = ["explain", "--model", server.url, "--data", "d.parquet", "--target", "y", "--exact"]
    found = profile(*run, env={"HIFI_HTTP_CA": str(certificate)})
    check(found, owner, x, y, x, LOSSES["squared"], tie=1e-9)
    assert one_line(hifi(*run, code=3), "certificate.*HIFI_HTTP_CA")  # verified by default
    other = server.url.replace("localhost", "127.0.0.1")  # a name that the certificate does not have
    error = hifi("explain", "--model", other, *run[3:], code=3, env={"HIFI_HTTP_CA": str(certificate)})
    assert one_line(error, "127.0.0.1")


def test_interrupt_while_waiting(data, serve, hifi, tmp_path):
    server = serve()
    server.behave = lambda number, r: time.sleep(20) if number > 12 else None
    process = subprocess.Popen([HIFI, *flags(server.url, "--exact", "--batch", "40", "--out", "run.hifi", "--quiet")],
                               cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while len(server.requests) < 14:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    start = time.time()
    assert process.wait(10) == 5 and time.time() - start < 3
    assert "hifi resume run.hifi" in process.stderr.read()
    server.behave = lambda number, r: None
    hifi("resume", "run.hifi", "--quiet")
