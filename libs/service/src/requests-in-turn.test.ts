import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { within } from '@halogrid/testing';
import { inTurn, maxAhead } from './requests-in-turn.ts';

const requests = (count: number): string => {
  return Array.from({ length: count }, (_, i) => `GET /${i} HTTP/1.1\r\nhost: here\r\n\r\n`).join('');
};

/** A server that records its requests, and a connection to it. */
async function setUp(t: TestContext, asked: (url: string, response: ServerResponse) => void) {
  const server = createServer(inTurn((request, response) => asked(request.url!, response))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  t.after(() => {
    socket.destroy();
    server.close();
  });
  return socket;
}

test('requests that are sent ahead are answered one after another', async (t) => {
  const asked: string[] = [];
  let open = 0;
  const socket = await setUp(t, (url, response) => {
    assert.equal(++open, 1);
    asked.push(url);
    setImmediate(() => {
      open--;
      response.end(`${url};`);
    });
  });
  let text = '';
  const last = new Promise<void>((resolve) => {
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      if (text.includes('/19;')) resolve();
    });
  });
  socket.write(requests(20));
  await within('the last answer', last);
  assert.deepEqual(
    asked,
    Array.from({ length: 20 }, (_, i) => `/${i}`),
  );
});

test('a client that reads no answer causes few of them, and one that sends too many ahead is disconnected', async (t) => {
  const body = Buffer.alloc(2 ** 23);
  let made = 0;
  const socket = await setUp(t, (_url, response) => {
    made++;
    response.end(body);
  });
  socket.pause();
  const closed = once(socket, 'close');
  socket.write(requests(maxAhead + 2));
  socket.resume();
  await within('the end of the connection', closed);
  assert.ok(made <= 2, `${made} answers of ${body.length} bytes were made`);
});
