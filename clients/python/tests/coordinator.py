"""A server with prepared answers, in place of a coordinator."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Answer:
    """An answer: a status and a body, which is sent as JSON unless it is bytes; ``cut``: the body ends too early."""

    def __init__(self, body, status=200, cut=False):
        self.body, self.status, self.cut = body, status, cut


@contextmanager
def coordinator(answers):
    """Its URL, and the requests so far: method, path, headers, body. ``answers``: by path, an Answer or a list."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            asked.append((self.command, self.path, self.headers, body))
            told = answers.get(self.path, Answer({"error": "There is no such path", "code": "NOT_FOUND"}, 404))
            told = told.pop(0) if isinstance(told, list) else told
            content = told.body if isinstance(told.body, bytes) else json.dumps(told.body).encode()
            self.send_response(told.status)
            self.send_header("content-length", str(len(content) + told.cut))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = answer

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
