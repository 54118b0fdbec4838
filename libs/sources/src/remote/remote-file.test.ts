import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { pause } from '@halogrid/testing';
import { type ServedFile, sendFile, startServer } from '../testing/servers.ts';
import { readRemoteHead } from './read-head.ts';
import { RemoteFile } from './remote-file.ts';
import { defaultRemoteLimits, type RemoteLimits } from './remote-limits.ts';

const content = Buffer.from(Array.from({ length: 3_500_000 }, (_, i) => (i * 31) % 253));
const quick: RemoteLimits = { ...defaultRemoteLimits, attempts: 3, backoffMs: 1 };
/** For servers that send nothing; on a busy machine, servers that do send may take as long. */
const impatient: RemoteLimits = { ...quick, idleMs: 200 };

type Answer = (request: IncomingMessage, response: ServerResponse, nth: number) => void;

/** The URI of a file that a server sends so, and how many requests there were. */
async function serve(
  t: TestContext,
  answer: Answer,
  name = 'file.jpg',
): Promise<{ uri: string; requests: () => number }> {
  let requests = 0;
  const server = await startServer((request, response) => answer(request, response, requests++));
  t.after(() => server.close());
  return { uri: `${server.origin}/${name}`, requests: () => requests };
}

const always =
  (file: ServedFile): Answer =>
  (request, response) =>
    sendFile(file, request, response);

async function withFile<T>(uri: string, use: (file: RemoteFile) => Promise<T>, limits = quick): Promise<T> {
  const file = await RemoteFile.open(uri, limits);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

const readAll = (uri: string, limits = quick): Promise<Buffer> =>
  withFile(uri, async (file) => Buffer.from(await file.readAll()), limits);

const refusal = (message: RegExp, stage = 'read') => ({ name: 'InputError', stage, message });

test('the head, any part and all of a file come over the network once', async (t) => {
  const { uri, requests } = await serve(t, always({ bytes: content, etag: '"1"' }));
  await withFile(uri, async (file) => {
    assert.equal(file.sizeBytes, content.length);
    assert.equal(Buffer.compare(file.head, content.subarray(0, 2 ** 20)), 0);
    assert.deepEqual([requests(), file.bytesRead], [1, 2 ** 20]);
    const part = Buffer.alloc(1000);
    await file.read(part, 2 ** 20 - 500);
    assert.equal(Buffer.compare(part, content.subarray(2 ** 20 - 500, 2 ** 20 + 500)), 0);
    assert.equal(file.bytesRead, 2 ** 20 + 500);
    await assert.rejects(file.read(part, content.length - 999), refusal(/^The file is truncated/, 'decode'));
    assert.equal(Buffer.compare(await file.readAll(), content), 0);
    assert.equal(file.bytesRead, content.length + 500);
  });
});

test('a small file is one request', async (t) => {
  const { uri, requests } = await serve(t, always({ bytes: content.subarray(0, 300_000) }));
  assert.equal(Buffer.compare(await readAll(uri), content.subarray(0, 300_000)), 0);
  assert.equal(requests(), 1);
});

test('a server that sends whole files only is read once, with or without an announced length', async (t) => {
  for (const withoutLength of [false, true]) {
    for (const memoryBytes of [2 ** 25, 2 ** 20]) {
      const { uri, requests } = await serve(t, always({ bytes: content, withoutRanges: true, withoutLength }));
      await withFile(
        uri,
        async (file) => {
          assert.equal(file.sizeBytes, content.length);
          const whole = await file.whole();
          assert.equal(typeof whole, memoryBytes > content.length ? 'object' : 'string');
          assert.equal(Buffer.compare(typeof whole === 'string' ? readFileSync(whole) : whole, content), 0);
          const part = Buffer.alloc(5);
          await file.read(part, 3_000_000);
          assert.equal(Buffer.compare(part, content.subarray(3_000_000, 3_000_005)), 0);
          assert.deepEqual([requests(), file.bytesRead], [1, content.length]);
        },
        { ...quick, memoryBytes },
      );
    }
  }
  const { uri } = await serve(t, always({ bytes: content, withoutRanges: true }));
  await assert.rejects(readAll(uri, { ...quick, wholeBytes: 10_000 }), refusal(/at most 10000 bytes are read/));
});

test('a temporary copy holds the parts that were asked for at their places, each fetched once', async (t) => {
  const { uri } = await serve(t, always({ bytes: content, etag: '"1"' }), 'x.tif');
  const gone = await withFile(uri, async (file) => {
    const near = { start: 1_000_000, end: 1_000_100 };
    const far = { start: 3_499_000, end: 4_000_000 };
    const [path] = await Promise.all([file.copyParts([near, far]), file.copyParts([far])]);
    const copy = readFileSync(path);
    assert.equal(copy.length, content.length);
    assert.equal(Buffer.compare(copy.subarray(near.start, near.end), content.subarray(near.start, near.end)), 0);
    assert.equal(Buffer.compare(copy.subarray(far.start), content.subarray(far.start)), 0);
    assert.ok(copy.subarray(2_000_000, 3_000_000).every((byte) => byte === 0));
    assert.equal(file.bytesRead, 2 ** 16 + 100 + 1000);
    // Around what is there.
    const around = { start: near.start - 10, end: near.end + 20 };
    await file.copyParts([around]);
    const copied = readFileSync(path).subarray(around.start, around.end);
    assert.equal(Buffer.compare(copied, content.subarray(around.start, around.end)), 0);
    return path;
  });
  assert.throws(() => readFileSync(gone));
});

test('a failure that may pass is tried again, another one is not', async (t) => {
  const file = { bytes: content.subarray(0, 5000) };
  const flaky = (status: number): Answer => {
    return (request, response, nth) => {
      if (nth < 2) response.writeHead(status).end();
      else sendFile(file, request, response);
    };
  };
  for (const status of [500, 503, 429]) {
    const { uri, requests } = await serve(t, flaky(status));
    assert.equal((await readAll(uri)).length, 5000);
    assert.equal(requests(), 3);
  }
  const reset = await serve(t, (request, response, nth) =>
    nth < 2 ? void request.socket.destroy() : sendFile(file, request, response),
  );
  assert.equal((await readAll(reset.uri)).length, 5000);
  for (const [status, sentence] of [
    [404, /^The server has no such file: 404 Not Found$/],
    [403, /^The server refuses access: 403 Forbidden$/],
    [418, /^The server did not send the file: 418 /],
    [501, /^The server failed: 501 Not Implemented$/],
  ] as const) {
    const { uri, requests } = await serve(t, (_, response) => void response.writeHead(status).end());
    await assert.rejects(readAll(uri), refusal(sentence));
    assert.equal(requests(), 1);
  }
});

test('a server that fails for ever is given up', async (t) => {
  const { uri, requests } = await serve(t, (_, response) => void response.writeHead(500).end());
  await assert.rejects(readAll(uri), refusal(/^The server failed: 500 Internal Server Error \(3 attempts\)$/));
  assert.equal(requests(), 3);
});

test('a body that is shorter than announced is refused', async (t) => {
  for (const withoutRanges of [false, true]) {
    const { uri } = await serve(t, always({ bytes: content, withoutRanges, cutAfter: 700_000 }));
    await assert.rejects(
      readAll(uri),
      refusal(/^The host '127.0.0.1:\d+' sent \d+ of the \d+ bytes that it announced \(3 attempts\)$/),
    );
  }
  const chunked = await serve(
    t,
    always({ bytes: content, withoutRanges: true, withoutLength: true, cutAfter: 700_000 }),
  );
  await assert.rejects(readAll(chunked.uri), refusal(/closed the connection before its answer was complete/));
});

test('silence is not waited for, before and in the middle of an answer', async (t) => {
  const silent = await serve(t, () => {});
  await assert.rejects(readAll(silent.uri, impatient), refusal(/^The host '127.0.0.1:\d+' sent nothing for 0.2 s$/));
  const stuck = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('begin');
  });
  await assert.rejects(readAll(stuck.uri, impatient), refusal(/sent nothing for 0.2 s$/));
});

test('a byte now and then does not go on for ever', async (t) => {
  const { uri } = await serve(t, async (_, response) => {
    response.writeHead(200);
    for (; !response.closed; await pause(20)) response.write('x');
  });
  const limits = { ...quick, totalMs: 150 };
  await assert.rejects(readAll(uri, limits), refusal(/took more than 0.15 s$/));
});

test('a slow server is waited for', async (t) => {
  const { uri } = await serve(t, async (request, response) => {
    await pause(50);
    sendFile({ bytes: content.subarray(0, 10) }, request, response);
  });
  assert.equal((await readAll(uri)).length, 10);
});

test('a file that changes while it is read is never mixed with what it was', async (t) => {
  const changes: [before: Omit<ServedFile, 'bytes'>, after: Partial<ServedFile>, sentence: RegExp][] = [
    [{ etag: '"1"' }, { etag: '"2"' }, /the server has another version of it now$/],
    [{ lastModified: 'Mon, 01 Jan 2024 00:00:00 GMT' }, { lastModified: 'x' }, /another version of it now$/],
    [{ etag: 'W/"1"' }, { etag: 'W/"2"' }, /its ETag was W\/"1" and is W\/"2"$/],
    [{}, { bytes: content.subarray(1) }, /its size in bytes was 3500000 and is 3499999$/],
    [{}, { bytes: content.subarray(0, 9) }, /another version of it now$/],
  ];
  for (const [before, after, sentence] of changes) {
    const file: ServedFile = { bytes: content, ...before };
    const { uri } = await serve(t, (request, response, nth) =>
      sendFile(nth === 0 ? file : { ...file, ...after }, request, response),
    );
    await assert.rejects(readAll(uri), (error: Error) => {
      assert.match(error.message, /^The file changed while it was read: /);
      return sentence.test(error.message);
    });
  }
  const { uri } = await serve(t, (request, response, nth) => {
    // A server that does not know conditions.
    delete request.headers['if-match'];
    sendFile({ bytes: content, etag: `"${nth}"` }, request, response);
  });
  await assert.rejects(readAll(uri), refusal(/: its ETag was "0" and is "\d"$/));
});

test('redirections within a host are followed, others are not', async (t) => {
  const moved = await serve(t, (request, response) => {
    if (request.url === '/file.jpg') response.writeHead(302, { location: 'there/it.jpg' }).end();
    else sendFile({ bytes: content.subarray(0, 7) }, request, response);
  });
  assert.equal((await readAll(moved.uri)).length, 7);
  for (const location of [
    'http://other.example/x',
    'https://127.0.0.1/x',
    'http://127.0.0.1:1/x',
    'file:///etc/passwd',
  ]) {
    const { uri } = await serve(t, (_, response) => void response.writeHead(307, { location }).end());
    await assert.rejects(readAll(uri), refusal(/^The server redirects to '.*', and only redirections within 'http:/));
  }
  const endless = await serve(t, (_, response) => void response.writeHead(301, { location: '/again' }).end());
  await assert.rejects(readAll(endless.uri), refusal(/^The server redirects more than 5 times$/));
  assert.equal(endless.requests(), 6);
});

test('servers that do not do as they are asked are caught', async (t) => {
  const wrong: [Answer, RegExp][] = [
    [(_, response) => void response.writeHead(206).end('abc'), /without saying which part/],
    [(_, r) => void r.writeHead(206, { 'content-range': 'bytes 5-7/9' }).end('abc'), /sent bytes 5 to 8 /],
    [(_, r) => void r.writeHead(206, { 'content-range': 'bytes 0-2/3' }).end('ab'), /sent 2 of the 3 bytes/],
    [(_, r) => void r.writeHead(206, { 'content-range': 'bytes 0-2/3' }).end('abcd'), /more than it announced/],
    [(_, r) => void r.writeHead(200, { 'content-encoding': 'gzip' }).end('abc'), /compressed as 'gzip'/],
    [(_, r) => void r.socket?.end('SSH-2.0\r\n\r\n'), /does not speak HTTP/],
  ];
  for (const [answer, sentence] of wrong) {
    const { uri } = await serve(t, answer);
    await assert.rejects(readAll(uri), refusal(sentence));
  }
});

test('a server may send fewer bytes than it is asked for: the rest is asked for', async (t) => {
  for (const mostOfPart of [content.length - 1, 2 ** 20 - 1, 20_000]) {
    for (const etag of ['"1"', undefined]) {
      const { uri } = await serve(t, always({ bytes: content, mostOfPart, ...(etag && { etag }) }));
      await withFile(uri, async (file) => {
        assert.equal(Buffer.compare(file.head, content.subarray(0, 2 ** 20)), 0);
        const part = Buffer.alloc(70_001);
        await file.read(part, 3_000_000);
        assert.equal(Buffer.compare(part, content.subarray(3_000_000, 3_070_001)), 0);
        assert.equal(Buffer.compare(await file.readAll(), content), 0);
        assert.equal(file.bytesRead, content.length + part.length);
      });
    }
  }
  const changing = await serve(t, (request, response, nth) => {
    delete request.headers['if-match'];
    sendFile({ bytes: content, mostOfPart: 1000, etag: `"${nth}"` }, request, response);
  });
  await assert.rejects(
    readAll(changing.uri),
    refusal(/^The file changed while it was read: its ETag was "0" and is "1"/),
  );
  const byteByByte = await serve(t, always({ bytes: content, mostOfPart: 1 }));
  await assert.rejects(
    readAll(byteByByte.uri),
    refusal(/^The server sends less than it is asked for, more than 256 times/),
  );
  assert.equal(byteByByte.requests(), 258);
});

test('a server need not say how long a file is whose part it sends: then all of it is read once', async (t) => {
  for (const [memoryBytes, mostOfPart] of [
    [2 ** 25, undefined],
    [2 ** 20, 1000],
  ] as const) {
    const file: ServedFile = { bytes: content, withoutTotal: true, etag: '"1"', ...(mostOfPart && { mostOfPart }) };
    const { uri, requests } = await serve(t, always(file));
    const limits = { ...quick, memoryBytes };
    await withFile(
      uri,
      async (file) => {
        assert.deepEqual([file.sizeBytes, file.hasSureVersion], [content.length, true]);
        const whole = await file.whole();
        assert.equal(Buffer.compare(typeof whole === 'string' ? readFileSync(whole) : whole, content), 0);
        assert.deepEqual([requests(), file.bytesRead], [2, content.length]);
      },
      limits,
    );
  }
  const partsOnly = await serve(t, (_, r) => void r.writeHead(206, { 'content-range': 'bytes 0-2/*' }).end('abc'));
  await assert.rejects(readAll(partsOnly.uri), refusal(/sends a part of the file without saying of how many bytes$/));
});

test('the first bytes of a file come whole from a server that sends fewer', async (t) => {
  for (const file of [{ mostOfPart: 7 }, { withoutTotal: true }, { mostOfPart: 7, withoutTotal: true }, {}]) {
    const { uri } = await serve(t, always({ bytes: content, ...file }));
    assert.equal(Buffer.compare(await readRemoteHead(uri, 1024, quick), content.subarray(0, 1024)), 0);
    const short = await serve(t, always({ bytes: content.subarray(0, 100), ...file }));
    assert.equal(Buffer.compare(await readRemoteHead(short.uri, 1024, quick), content.subarray(0, 100)), 0);
  }
});

test('an empty file is reported as empty', async (t) => {
  for (const withoutRanges of [false, true]) {
    const { uri } = await serve(t, always({ bytes: Buffer.alloc(0), withoutRanges }));
    await assert.rejects(readAll(uri), refusal(/^The file is empty \(0 bytes\)$/, 'decode'));
  }
});

test('a missing host is reported', async (t) => {
  const server = await startServer(() => {});
  await server.close();
  await assert.rejects(readAll(`${server.origin}/a`), refusal(/^The host '127.0.0.1:\d+' refuses connections$/));
  await assert.rejects(readAll('http://nowhere.invalid/a'), refusal(/^The host 'nowhere.invalid' is not known/));
  const plain = await serve(t, always({ bytes: content }));
  await assert.rejects(
    readAll(plain.uri.replace('http:', 'https:')),
    refusal(/^There is no secure connection to the host '127.0.0.1:\d+'/),
  );
});

test('a certificate that nobody vouches for is not trusted', async (t) => {
  const server = createSecureServer({ key, cert }, (_, response) => response.end('x')).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await assert.rejects(
    readAll(`https://127.0.0.1:${port}/a`),
    refusal(/^There is no secure connection to the host '127.0.0.1:\d+': self-signed certificate/),
  );
});

// A certificate for these tests only: signed by itself, for 127.0.0.1.
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgIL0PWz5zi8EH1Rmo
UgMUTgWgXib9Xoj4H9YAsaDghauhRANCAATPyXtEuE11pEwlD2TiP+nOrPi5+rMh
a/5YAoDNQMz+cMzJDbDh0ev2gzp1h+tMgH1C1r9WIxbkGn2CIkDz7msZ
-----END PRIVATE KEY-----
`;
const cert = `-----BEGIN CERTIFICATE-----
MIIBkDCCATagAwIBAgIUWoPOBRrKpglM0qncSgW5ZSAoozowCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyMDEwMDIwNFoYDzIxMjYxMDI3
MTAwMjA0WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATPyXtEuE11pEwlD2TiP+nOrPi5+rMha/5YAoDNQMz+cMzJDbDh0ev2
gzp1h+tMgH1C1r9WIxbkGn2CIkDz7msZo2QwYjAdBgNVHQ4EFgQUhcjpQD2xMxHI
LUx5VedDZTf+SBEwHwYDVR0jBBgwFoAUhcjpQD2xMxHILUx5VedDZTf+SBEwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUC
IQDp8ef+rgFKfOnvPCAnKbXGQR8LeY3PB+pvL5JbU5eIgwIgYNndL89z6kDRTIdx
pCEn+BRvBQOMFs2NOGIFiitoWuA=
-----END CERTIFICATE-----
`;
