"""Tests calls of a coordinator, against a server that answers like one."""

import json
import os
import stat
import tempfile
import socket
import threading
import unittest
from unittest import mock

from coordinator import Answer, coordinator

import halogrid


def job(state, **more):
    return {"jobId": "20260101-1", "state": f"JOB_STATE_{state}", **more}


def events(*statuses):
    return b"".join(b"data: " + json.dumps({"job": status}).encode() + b"\n\n" for status in statuses)


WATCH = "/api/v1/jobs/20260101-1/watch"
JOB = "/api/v1/jobs/20260101-1"


@mock.patch("halogrid.job._PAUSE", 0)
class Jobs(unittest.TestCase):
    def test_a_job_is_submitted_watched_and_its_result_read(self):
        told = [job("RUNNING", counts={"shardsDone": 1}), job("COMPLETE", digest="ab")]
        answers = {
            "/api/v1/jobs": Answer({"job": job("PENDING")}),
            WATCH: Answer(b": hello\n\n" + events(*told)),
            f"{JOB}/results/job.json": Answer({"digest": "ab"}),
        }
        with coordinator(answers) as (url, asked):
            submitted = halogrid.connect(url).submit("/in", op="lbp", grid=(2, 2), tile_px=64)
            self.assertEqual((submitted.id, submitted.state), ("20260101-1", "pending"))
            self.assertEqual(list(submitted), told)
            self.assertEqual((submitted.state, submitted.digest), ("complete", "ab"))
            self.assertEqual(submitted.result(), {"digest": "ab"})
        method, _, headers, body = asked[0]
        self.assertEqual((method, headers["content-type"]), ("POST", "application/json"))
        self.assertEqual(
            json.loads(body), {"sources": ["/in"], "op": ["lbp"], "grid": {"rows": 2, "columns": 2}, "tilePx": 64}
        )

    def test_a_stream_that_breaks_is_asked_for_again(self):
        running, complete = job("RUNNING"), job("COMPLETE")
        streams = [
            Answer(events(running)),
            Answer({"error": "Not the leader", "code": "UNAVAILABLE"}, 503),
            Answer(events(running), cut=True),
            Answer(events(running, complete)),
        ]
        with coordinator({JOB: Answer({"job": job("PENDING")}), WATCH: streams}) as (url, asked):
            self.assertEqual(list(halogrid.connect(url).job("20260101-1")), [running, complete])
        self.assertEqual(len(asked), 5)

    def test_a_coordinator_that_stays_away_is_an_error(self):
        with coordinator({JOB: Answer({"job": job("RUNNING")})}) as (url, _):
            lost = halogrid.connect(url).job("20260101-1")
        lost._api.timeout = 0.001
        with self.assertRaisesRegex(halogrid.Error, "does not answer") as raised:
            lost.wait()
        self.assertEqual(raised.exception.code, "UNAVAILABLE")

    def test_a_job_that_failed_raises_its_reason(self):
        with coordinator({JOB: Answer({"job": job("FAILED", error="No node sees /in")})}) as (url, _):
            failed = halogrid.connect(url).job("20260101-1")
            self.assertTrue(failed.wait().has_ended)
            for call in (failed.result, failed.load):
                self.assertRaisesRegex(halogrid.Error, "Job 20260101-1 is failed: No node sees /in", call)

    def test_cancel_files_and_lists(self):
        answers = {
            "/api/v1/jobs?state=running%2Cpending&since=2h": Answer({"jobs": [job("RUNNING")], "leftOut": 0}),
            f"{JOB}/pause": Answer({"job": job("RUNNING", owner="ann", paused={"sinceMs": 1, "by": "ann"})}),
            f"{JOB}/resume": Answer({"job": job("RUNNING", owner="ann")}),
            "/api/v1/jobs?owner=ann&mine=true": Answer({"jobs": [], "leftOut": 0}),
            f"{JOB}/cancel": Answer({"job": job("CANCELLED")}),
            f"{JOB}/remove?dryRun=true": Answer({"files": 1, "bytes": 7}),
            f"{JOB}/results": Answer({"files": [{"name": "job.json", "bytes": 7}]}),
            "/api/v1/search?top=3&cells=true": Answer({"results": []}),
            "/api/v1/changes?job_id=1": Answer({"cameras": []}),
            **{f"/api/v1/{name}": Answer({name: [{"name": "a"}]}) for name in ("nodes", "kernels", "indexes")},
        }
        with coordinator(answers) as (url, asked):
            client = halogrid.connect(f"{url}/")
            [running] = client.jobs(state="running,pending", since="2h")
            self.assertEqual((running.owner, running.is_paused), ("", False))
            self.assertEqual((running.pause().owner, running.is_paused), ("ann", True))
            self.assertFalse(running.resume().is_paused)
            self.assertEqual(client.jobs(owner="ann", mine=True), [])
            self.assertEqual(running.cancel().state, "cancelled")
            self.assertEqual(running.remove(dry_run=True), {"files": 1, "bytes": 7})
            self.assertEqual(running.files(), [halogrid.File("job.json", 7)])
            for call in (client.nodes, client.kernels, client.indexes):
                self.assertEqual(call(), [{"name": "a"}])
            self.assertEqual(client.search(b"JPEG", top=3, cells=True), {"results": []})
            self.assertEqual(asked[-1][3], b"JPEG")
            self.assertEqual(client.changes(job_id="1"), {"cameras": []})

    def test_only_files_of_histograms_are_fetched_to_be_loaded(self):
        names = ["job.json", "features.parquet/../../x.parquet", "pipelines/../features.parquet", "/features.parquet"]
        answers = {
            JOB: Answer({"job": job("COMPLETE")}),
            f"{JOB}/results": Answer({"files": [{"name": name, "bytes": 1} for name in names]}),
        }
        with coordinator(answers) as (url, asked):
            self.assertRaisesRegex(
                halogrid.Error, "computed no histograms", halogrid.connect(url).job("20260101-1").load
            )
            self.assertEqual(len(asked), 2)

    def test_a_file_is_there_whole_or_not_at_all(self):
        path = f"{JOB}/results/maps/a%20b.tif"
        with (
            tempfile.TemporaryDirectory() as folder,
            coordinator(
                {
                    JOB: Answer({"job": job("COMPLETE")}),
                    path: [Answer(b"pixels"), Answer(b"pix", cut=True), Answer(b"pixels")],
                }
            ) as (url, _),
        ):
            complete = halogrid.connect(url).job("20260101-1")
            written = complete.download("maps/a b.tif", folder)
            self.assertEqual(written, os.path.join(folder, "a b.tif"))
            with open(written, "rb") as file:
                self.assertEqual(file.read(), b"pixels")
            with self.assertRaises(halogrid.Error):
                complete.download("maps/a b.tif", os.path.join(folder, "second"))
            with self.assertRaisesRegex(halogrid.Error, "cannot be written"):
                complete.download("maps/a b.tif", os.path.join(folder, "none", "second"))
            self.assertEqual(os.listdir(folder), ["a b.tif"])


class Errors(unittest.TestCase):
    def test_the_sentence_code_and_field_are_those_of_the_answer(self):
        told = {
            "error": "Expected none for mapFormat of video.fromMs but received 'mapFormat'",
            "code": "INVALID_ARGUMENT",
            "field": "mapFormat",
            "parts": ["Expected none for ", "mapFormat", " of ", "video.fromMs", " but received 'mapFormat'"],
        }
        python = "Expected none for map_format of video.from_ms but received 'mapFormat'"
        answers = {
            "/api/v1/plan": Answer(told, 400),
            "/api/v1/jobs": Answer({"error": "Say who you are"}, 401),
            "/api/v1/nodes": Answer(b"<html>", 502),
            "/api/v1/kernels": Answer(b"<html>"),
        }
        with coordinator(answers) as (url, _):
            client = halogrid.connect(url)
            cases = [
                (lambda: client.plan("/in"), (python, told["code"], "map_format")),
                (client.jobs, ("Say who you are", "UNAUTHENTICATED", None)),
                (client.nodes, ("The coordinator answered with the status 502", "INTERNAL", None)),
                (client.kernels, ("The answer is not JSON: is this a coordinator of halogrid?", "INTERNAL", None)),
                (lambda: client.job("/../nodes"), ("There is no such path", "NOT_FOUND", None)),
            ]
            for call, expected in cases:
                with self.subTest(expected), self.assertRaises(halogrid.Error) as raised:
                    call()
                error = raised.exception
                self.assertEqual((str(error), error.code, error.field), expected)

    def test_where_nobody_answers(self):
        with coordinator({}) as (url, _):
            pass
        with self.assertRaisesRegex(
            halogrid.Error, f"^The coordinator {url} does not answer: Connection refused$"
        ) as raised:
            halogrid.connect(url).nodes()
        self.assertEqual(raised.exception.code, "UNAVAILABLE")

    def test_an_address_that_speaks_grpc(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            def answer():
                connection, _ = server.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(bytes([0, 0, 6, 4, 0, 0, 0, 0, 0, 10]))
            thread = threading.Thread(target=answer)
            thread.start()
            client = halogrid.connect(f"http://127.0.0.1:{server.getsockname()[1]}")
            with self.assertRaisesRegex(halogrid.Error, "speaks no HTTP.*of its --http"):
                client.jobs()
            thread.join()

    def test_wrong_options_are_refused_before_anything_is_sent(self):
        for url in ("ftp://a", "a:9464", "http://", "http://a:b", "http://a/b"):
            with self.assertRaisesRegex(halogrid.Error, f"for url but received '{url}'"):
                halogrid.connect(url)
        self.assertRaisesRegex(halogrid.Error, "because ca_file is given", halogrid.connect, "http://a", ca_file="x")
        self.assertRaisesRegex(halogrid.Error, "in PEM for ca_file", halogrid.connect, "https://a", ca_file=__file__)


class Tokens(unittest.TestCase):
    def test_a_token_comes_from_the_argument_else_the_environment_and_is_read_again_each_time(self):
        with (
            tempfile.TemporaryDirectory() as folder,
            coordinator({"/api/v1/nodes": Answer({"nodes": []})}) as (url, asked),
        ):

            def file(name, text=None):
                path = os.path.join(folder, name)
                with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as written:
                    written.write(text or f"{name}-token\n")
                return path

            def sent(**options):
                client = halogrid.connect(url, **options)
                client.nodes()
                return client, asked[-1][2].get("authorization")

            with mock.patch.dict(os.environ, {"HALOGRID_TOKEN": "", "HALOGRID_TOKEN_FILE": ""}):
                self.assertIsNone(sent()[1])
            with mock.patch.dict(os.environ, {"HALOGRID_TOKEN": "word", "HALOGRID_TOKEN_FILE": ""}):
                self.assertEqual(sent()[1], "Bearer word")
            environment = {"HALOGRID_TOKEN": "word", "HALOGRID_TOKEN_FILE": file("env"), "HALOGRID_URL": url}
            with mock.patch.dict(os.environ, environment):
                self.assertEqual(sent(token="given")[1], "Bearer given")
                self.assertEqual(sent(token_file=file("option"))[1], "Bearer option-token")
                client, header = sent()
                self.assertEqual(header, "Bearer env-token")
                file("env", "rotated")
                client.nodes()
                self.assertEqual(asked[-1][2]["authorization"], "Bearer rotated")
                halogrid.connect().nodes()
            self.assertRaisesRegex(halogrid.Error, "more than one word", sent, token="two words")
            self.assertRaisesRegex(halogrid.Error, "cannot be read", sent, token_file=os.path.join(folder, "none"))
            if os.name == "posix":
                os.chmod(file("open"), stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
                self.assertRaisesRegex(halogrid.Error, "chmod 600", sent, token_file=os.path.join(folder, "open"))


if __name__ == "__main__":
    unittest.main()
