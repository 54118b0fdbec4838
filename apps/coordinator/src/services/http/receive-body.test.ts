import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { eventually, within } from '@halogrid/testing';
import { type BodyLimits, BodyReceiver } from './receive-body.ts';

/** A server that answers with the length of a body, or with the reason why it refuses it. */
async function serve(t: TestContext, most: number, limits: BodyLimits) {
  const receiver = new BodyReceiver(most, limits);
  const left: string[] = [];
  let begun = 0;
  const server = createServer((asked, response) => {
    begun++;
    receiver.receive(asked).then(
      (body) => response.end(String(body.length)),
      (error: Error) => {
        if (error.name === 'CallerGoneError') left.push(error.name);
        response.setHeader('connection', 'close').end(error.message);
      },
    );
  }).listen(0, '127.0.0.1');
  t.after(() => server.close().closeAllConnections());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const send = (): ClientRequest => request({ port, method: 'POST', agent: false }).on('error', () => {});
  /** A request whose first byte has arrived. */
  const sendSlowly = async (): Promise<{ sent: ClientRequest; said: Promise<string> }> => {
    const before = begun;
    const sent = send();
    const said = saidTo(sent);
    sent.write('x');
    await eventually('the request to arrive', () => begun > before);
    return { sent, said };
  };
  return { send, sendSlowly, left };
}

async function saidTo(sent: ClientRequest): Promise<string> {
  const [response] = (await within('a response', once(sent, 'response'))) as [IncomingMessage];
  let text = '';
  for await (const part of response) text += part;
  return text;
}

/** Longer than any test. */
const longMs = 3_600_000;
const patient: BodyLimits = { bytes: 100, withinMs: longMs, leastMs: longMs };

test('bodies are received whole, up to a length', async (t) => {
  const { send } = await serve(t, 2, patient);
  for (const [length, said] of [
    [0, '0'],
    [100, '100'],
    [101, 'Expected at most 100 bytes but received more'],
  ] as const) {
    const sent = send();
    sent.end('x'.repeat(length));
    assert.equal(await saidTo(sent), said);
  }
});

test('slow senders give up their places to new ones, the oldest first', async (t) => {
  const { send, sendSlowly } = await serve(t, 2, { ...patient, leastMs: 0 });
  const [oldest, second] = [await sendSlowly(), await sendSlowly()];
  const third = send();
  third.end('abc');
  assert.equal(await saidTo(third), '3');
  assert.equal(await oldest.said, 'The body of the request came too slowly: others wait');
  second.sent.end('y');
  assert.equal(await second.said, '2');
});

test('no sender gives up its place at once', async (t) => {
  const { send, sendSlowly } = await serve(t, 1, patient);
  const first = await sendSlowly();
  const next = send();
  next.end('abc');
  assert.equal(await saidTo(next), '1 bodies are received here already: ask again in a moment');
  first.sent.end();
  assert.equal(await first.said, '1');
});

test('a body that takes too long is not waited for', async (t) => {
  const { sendSlowly } = await serve(t, 1, { ...patient, withinMs: 50 });
  const { said } = await sendSlowly();
  assert.equal(await said, 'The body of the request came too slowly: it may take 0.05 s');
});

test('a sender that leaves in the middle frees its place, and does not count as a failure', async (t) => {
  const { send, sendSlowly, left } = await serve(t, 1, patient);
  const { sent, said } = await sendSlowly();
  said.catch(() => {});
  sent.destroy();
  await eventually('the body to be given up', () => left.length > 0);
  const next = send();
  next.end('abc');
  assert.equal(await saidTo(next), '3');
});
