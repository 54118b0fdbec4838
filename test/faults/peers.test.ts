import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { eventually } from '@halogrid/testing';
import { ScriptedNode } from '../../apps/coordinator/src/services/testing/scripted-node.ts';
import { readMetrics } from '../read-metrics.ts';
import { FaultCluster, skip, slowly } from './fault-cluster.ts';

// Whoever comes to the coordinator's port with something else than it expects: they are refused, and the others are served.

let faults: FaultCluster;

before(async () => {
  if (!skip) faults = await FaultCluster.start(['a', 'b']);
});
beforeEach(() => faults?.restore('a', 'b'));
after(() => faults?.stop());

const peerTest = (sentence: string, act: () => Promise<void>) => test(sentence, { skip }, act);

const dial = async (): Promise<Socket> => {
  const [host, port] = faults.cluster.address.split(':');
  const socket = connect(Number(port), host);
  socket.on('error', () => {}).resume();
  await once(socket, 'connect');
  return socket;
};

peerTest('a node of another protocol version is refused with both versions, and holds nothing up', async () => {
  for (const name of ['a', 'b']) faults.node(name).proxy.set(slowly);
  const job = await faults.submit();
  const stranger = new ScriptedNode(Number(faults.cluster.address.split(':')[1]));
  stranger.hello({ nodeId: 'stranger', name: 'stranger', protocol: 9999 });
  const { code, details } = await stranger.over();
  stranger.hangUp();
  assert.equal(code, status.FAILED_PRECONDITION);
  assert.match(details, /^The node speaks protocol 9999 \(software .*\) but this coordinator \d+ \(/);
  assert.equal(await faults.cluster.node('stranger'), undefined);
  await faults.completesUndisturbed(job);
});

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** A frame of HTTP/2. */
function frame(type: number, flags: number, stream: number, payload: Uint8Array, length = payload.length): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const malformed: [what: string, bytes: Uint8Array][] = [
  ['another protocol', Buffer.from('GET / HTTP/1.1\r\nhost: coordinator\r\n\r\n')],
  ['noise', Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 131 + 7) & 255))],
  [
    'a frame above any limit',
    Buffer.concat([preface, frame(4, 0, 0, new Uint8Array()), frame(0, 0, 1, new Uint8Array(64), 2 ** 24 - 1)]),
  ],
  [
    'data for a stream that is not open',
    Buffer.concat([preface, frame(4, 0, 0, new Uint8Array()), frame(0, 0, 1, Buffer.alloc(5))]),
  ],
  [
    'headers that do not decode',
    Buffer.concat([preface, frame(4, 0, 0, new Uint8Array()), frame(1, 4, 1, Buffer.alloc(64, 0xff))]),
  ],
];

peerTest('malformed frames end the connection they came on, and no other', async () => {
  for (const name of ['a', 'b']) faults.node(name).proxy.set(slowly);
  const job = await faults.submit();
  for (const [what, bytes] of malformed) {
    const socket = await dial();
    socket.write(bytes);
    await eventually(`the end of a connection with ${what}`, () => socket.closed);
  }
  const { expired } = await faults.completesUndisturbed(job);
  assert.equal(expired, 0);
});

peerTest('messages that are no messages of the protocol are refused, and the server goes on', async () => {
  const message = (bytes: Uint8Array, length = bytes.length): Buffer => {
    const head = Buffer.alloc(5);
    head.writeUInt32BE(length, 1);
    return Buffer.concat([head, bytes]);
  };
  const cases: [what: string, path: string, body: Buffer, expected: number][] = [
    [
      'a message that does not decode',
      '/halogrid.v1.Jobs/Get',
      message(Buffer.from([0x0a, 0xff, 0xff])),
      status.INTERNAL,
    ],
    [
      'a message above the limit',
      '/halogrid.v1.Jobs/Get',
      message(Buffer.alloc(16), 2 ** 31),
      status.RESOURCE_EXHAUSTED,
    ],
    ['a call that does not exist', '/halogrid.v1.Jobs/Nothing', message(Buffer.alloc(0)), status.UNIMPLEMENTED],
  ];
  for (const [what, path, body, expected] of cases) {
    const session = connectHttp2(`http://${faults.cluster.address}`);
    const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
    const call = session.request(headers, { endStream: false });
    call.on('error', () => {}).resume();
    const answered = new Promise<unknown>((resolve) => {
      const take = (fields: Record<string, unknown>) => fields['grpc-status'] && resolve(fields['grpc-status']);
      call
        .on('response', take)
        .on('trailers', take)
        .on('close', () => resolve(undefined));
    });
    call.end(body);
    assert.equal(Number(await answered), expected, what);
    session.destroy();
  }
  await faults.completesUndisturbed(await faults.submit());
});

peerTest('clients that connect and say nothing, or begin and stop, keep nobody from being served', async () => {
  const silent = await Promise.all(Array.from({ length: 300 }, dial));
  silent.forEach((socket, i) => {
    if (i % 3 === 1) socket.write(preface.subarray(0, 10));
    if (i % 3 === 2) socket.write(Buffer.concat([preface, frame(4, 0, 0, new Uint8Array())]));
  });
  const { attempts } = await faults.completesUndisturbed(await faults.submit());
  assert.equal(attempts, faults.work.shards);
  await faults.join('late');
  for (const socket of silent) socket.destroy();
});

peerTest('whoever scrapes metrics and never reads the answers holds nothing up', async () => {
  const { hostname, port } = new URL(faults.cluster.http);
  const scrapers = Array.from({ length: 100 }, () => {
    const socket = connect(Number(port), hostname).on('error', () => {});
    socket.pause();
    // Answers of which nobody takes a byte fill what the system buffers.
    socket.write('GET /metrics HTTP/1.1\r\nhost: coordinator\r\n\r\n'.repeat(100));
    return socket;
  });
  try {
    for (const name of ['a', 'b']) faults.node(name).proxy.set(slowly);
    await faults.completesUndisturbed(await faults.submit());
    assert.ok((await readMetrics(faults.cluster.http)).size > 0);
  } finally {
    for (const socket of scrapers) socket.destroy();
  }
});
