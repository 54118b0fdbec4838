import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { AttachRequest, Hello, protocolVersion, SubmitRequest, WatchRequest } from '@halogrid/proto';
import { resultsVersion } from '@halogrid/service';
import { type Beside, beside, eventually, isThorough, timeoutMs, within } from '@halogrid/testing';
import { Cluster } from '../cluster.ts';
import { get } from '../get.ts';
import { drawPicture, writePgm } from '../picture-files.ts';
import { hasProc, residentBytes } from '../process-list.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { assertPrompt, fixedWork } from './fixed-work.ts';
import { grpcFrame, RawCall } from './raw-call.ts';

// Hostile peers that speak the protocol must not starve the others. Each test floods a real coordinator with one kind
// of message and reads no answer, while a job on a good node goes on.

const skip = hasProc ? false : 'the memory of a process is told by /proc';

/**
 * How many bytes a coordinator may grow by; with messages of megabytes, more for a few that are decoded and not
 * garbage-collected yet.
 */
const mostGrowth = 70e6;
const mostGrowthByLarge = 160e6;
/** A hostile peer goes on until this many answers have come. */
const answers = isThorough ? 40 : 7;
/** Names of 4 MB each, together far more than a coordinator may grow by. */
const healthNames = isThorough ? 60 : 45;
const nodeTimeoutMs = timeoutMs(5_000);

const folder = scratchFolder();
const picture = join(folder, 'picture.pgm');
let cluster: Cluster;
let jobs = 0;
let digest: string | undefined;

/** Runs a job, and checks that its result is unchanged. */
const runJob = async (): Promise<void> => {
  const out = join(folder, `job-${jobs++}`);
  const job = await cluster.jobs.run({ sources: [picture], out, tilePx: 128, map: 'tiff' });
  digest ??= job.digest;
  assert.equal(job.digest, digest);
};

before(async () => {
  if (skip) return;
  await writePgm(picture, drawPicture(512, 512));
  cluster = await Cluster.start({ nodes: 1, nodeTimeoutMs });
  // Warms up: memory that a first job and the beginning of calls keep is not counted as growth.
  await runJob();
  await withCall('/halogrid.v1.Nodes/Attach', async (call) => {
    call.listen().say(hello(), draining);
    const over = new AbortController();
    await Promise.all([
      call.flood(report({ $case: 'heartbeat', value: {} }), over.signal),
      runJob().finally(() => over.abort()),
    ]);
  });
  await fixedWork();
});
after(() => cluster?.stop());

const memory = (): number => residentBytes(cluster.coordinator.pidsOf('coordinator')[0]!)!;

async function withCall(path: string, act: (call: RawCall) => Promise<void>): Promise<void> {
  const call = new RawCall(cluster.address, path);
  try {
    await act(call);
  } finally {
    call.hangUp();
  }
}

/** Calls `act` while jobs run. Meanwhile /healthz must answer, and in the end the coordinator must not have grown. */
async function disturb(
  t: TestContext,
  act: (signal: AbortSignal) => Promise<void>,
  allowed = mostGrowth,
): Promise<void> {
  const before = memory();
  let most = before;
  const times: Beside[] = [];
  const over = new AbortController();
  const watch = async (): Promise<void> => {
    while (times.length < answers) {
      times.push(await beside(async () => assert.equal((await get(`${cluster.http}/healthz`)).status, 200), fixedWork));
      most = Math.max(most, memory());
    }
  };
  const work = async (): Promise<void> => {
    do await runJob();
    while (times.length < answers && !over.signal.aborted);
  };
  const acted = act(over.signal);
  await Promise.all([acted, Promise.all([watch(), work()]).finally(() => over.abort())]);
  t.diagnostic(`${Math.round((most - before) / 1e6)} MB more, ${assertPrompt(times)}`);
  assert.ok(most - before < allowed, `the coordinator grew from ${before} to ${most} bytes`);
}

type Report = NonNullable<AttachRequest['report']>;
const report = (value: Report): Uint8Array => AttachRequest.encode({ report: value }).finish();
const device = { kind: 'cpu', name: 'hostile', driver: '' };
const hello = (more: Partial<Hello> = {}): Uint8Array => {
  const versions = { protocol: protocolVersion, resultsVersion };
  const defaults = { nodeId: 'hostile', name: 'hostile', ...versions, device, creditBytes: 1 };
  return report({ $case: 'hello', value: Hello.fromPartial({ ...defaults, ...more }) });
};
// The node drains, so that it gets no lease for which the job would wait.
const draining = report({ $case: 'draining', value: {} });
const lease = { jobId: 'no-such-job', shard: 1, attempt: 1, epoch: 1 };
const answer = { ...lease, results: [], errors: [], stageSeconds: {}, busySeconds: {}, inputBytes: 0 };
const result = { source: 0, width: 256, height: 256, rect: undefined, counted: 0 };

const hit = { row: 7, cell: 0, score: 0.5, exact: '1/2' };

const floods: [name: string, message: Uint8Array, growth?: number][] = [
  ['draining', draining],
  ['heartbeat', report({ $case: 'heartbeat', value: {} })],
  ['returned', report({ $case: 'returned', value: lease })],
  ['completed, for a lease that does not exist', report({ $case: 'completed', value: answer })],
  [
    'completed, with 100,000 bins',
    report({ $case: 'completed', value: { ...answer, results: [{ ...result, bins: Array(1e5).fill(1) }] } }),
    mostGrowthByLarge,
  ],
  [
    'found, for a search that does not exist, with 60,000 hits',
    report({
      $case: 'found',
      value: { search: 1, version: '', rankings: [{ hits: Array(6e4).fill(hit) }], error: '' },
    }),
    mostGrowthByLarge,
  ],
  [
    'parts of answers that never come',
    report({ $case: 'part', value: { ...lease, number: 1, total: 320, counts: new Uint8Array(2 ** 20) } }),
    mostGrowthByLarge,
  ],
  [
    'failed, with a sentence of 6 MB',
    report({ $case: 'failed', value: { ...lease, error: 'x'.repeat(6e6), output: false, need: '' } }),
    mostGrowthByLarge,
  ],
];

for (const [name, message, growth] of floods) {
  test(`a node that floods with ${name}, and never reads`, { skip }, async (t) => {
    const flood = (signal: AbortSignal) =>
      withCall('/halogrid.v1.Nodes/Attach', async (call) => {
        call.say(hello(), draining);
        await call.flood(message, signal);
      });
    await disturb(t, flood, growth);
  });
}

test('a node that reads no messages for too long is dropped, and its connection closed', {
  skip,
}, async () => {
  await withCall('/halogrid.v1.Nodes/Attach', async (call) => {
    call.say(hello(), draining);
    await eventually('it to be attached', () => cluster.node('hostile'));
    const over = new AbortController();
    const flooded = call.flood(draining, over.signal);
    await eventually('it to be let go', async () => !(await cluster.node('hostile')));
    assert.deepEqual(await within('the end of its connection', call.ended), { code: undefined, details: '' });
    over.abort();
    await flooded;
  });
});

test('nodes that say hello twice, again and again', { skip }, async (t) => {
  await disturb(t, async (signal) => {
    while (!signal.aborted) {
      await withCall('/halogrid.v1.Nodes/Attach', async (call) => {
        const { code, details } = await call.listen().say(hello(), hello()).ended;
        assert.equal(code, status.INVALID_ARGUMENT, details);
      });
    }
  });
});

/** An encoded field with that number: a text, or a message. */
const field = (number: number, bytes: Uint8Array): Uint8Array => {
  const length: number[] = [];
  for (let rest = bytes.length; length.length === 0 || rest > 0; rest = Math.floor(rest / 128)) {
    length.push((rest % 128) + (rest >= 128 ? 128 : 0));
  }
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length]), bytes]);
};

test('requests of reflection, v1 and v1alpha, whose answers are not read', { skip }, async (t) => {
  // file_containing_symbol: 20 bytes, whose answer is all of the .proto files.
  const request = field(4, Buffer.from('halogrid.v1.Jobs'));
  const flood = (version: string, signal: AbortSignal) =>
    withCall(`/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`, (call) =>
      call.flood(request, signal),
    );
  await disturb(t, async (signal) => {
    await Promise.all(['v1', 'v1alpha'].map((version) => flood(version, signal)));
  });
});

test('watchers of health with ever new names', { skip }, async (t) => {
  const watch = async () => {
    const session = connectHttp2(`http://${cluster.address}`).on('error', () => {});
    try {
      for (let i = 0; i < healthNames; i++) {
        const headers = {
          ':method': 'POST',
          ':path': '/grpc.health.v1.Health/Watch',
          'content-type': 'application/grpc',
        };
        const stream = session.request({ ...headers, te: 'trailers' }, { endStream: false }).on('error', () => {});
        stream.end(grpcFrame(field(1, Buffer.from(String(i).padEnd(4e6, 'x')))));
        await within('an answer', once(stream, 'response'));
        stream.close();
      }
    } finally {
      session.destroy();
    }
  };
  await disturb(t, watch, mostGrowthByLarge);
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

test('malformed frames end only their own connection', { skip }, async () => {
  const attachedMs = async () => (await cluster.node('n1'))!.attachedMs;
  const before = await attachedMs();
  const running = runJob();
  const [host, port] = cluster.address.split(':');
  for (const [what, bytes] of malformed) {
    const socket = connect(Number(port), host).on('error', () => {});
    socket.resume().write(bytes);
    await eventually(`the end of a connection with ${what}`, () => socket.closed);
  }
  await running;
  assert.equal(await attachedMs(), before);
});

test('bytes that are not a message, and a call that does not exist, are refused with their status', {
  skip,
}, async () => {
  for (const [path, message, expected] of [
    ['/halogrid.v1.Jobs/Get', [0x0a, 0xff, 0xff], status.INTERNAL],
    ['/halogrid.v1.Jobs/Nothing', [], status.UNIMPLEMENTED],
  ] as const) {
    await withCall(path, async (call) => {
      call.listen().say(Uint8Array.from(message)).finish();
      assert.equal((await within('an answer', call.ended)).code, expected, path);
    });
  }
});

test('a very long name is not repeated in a status', { skip }, async () => {
  const long = 'x'.repeat(1e6);
  const asked: [path: string, message: Uint8Array, code: status][] = [
    ['/grpc.health.v1.Health/Check', field(1, Buffer.from(long)), status.NOT_FOUND],
    ['/halogrid.v1.Jobs/Get', WatchRequest.encode({ jobId: long }).finish(), status.INVALID_ARGUMENT],
    ['/halogrid.v1.Jobs/Watch', WatchRequest.encode({ jobId: long }).finish(), status.INVALID_ARGUMENT],
    ['/halogrid.v1.Jobs/Cancel', WatchRequest.encode({ jobId: long }).finish(), status.INVALID_ARGUMENT],
    ['/halogrid.v1.Nodes/Attach', hello({ name: long }), status.INVALID_ARGUMENT],
    ['/halogrid.v1.Nodes/Attach', hello({ device: { ...device, name: long } }), status.INVALID_ARGUMENT],
    [
      '/halogrid.v1.Jobs/Submit',
      SubmitRequest.encode(
        SubmitRequest.fromPartial({
          spec: { pipeline: { operations: [{ kernel: 'conv', parameters: { matrix: long } }] } },
        }),
      ).finish(),
      status.INVALID_ARGUMENT,
    ],
  ];
  for (const [path, message, code] of asked) {
    const session = connectHttp2(`http://${cluster.address}`).on('error', () => {});
    const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
    const stream = session
      .request(headers, { endStream: false })
      .on('error', () => {})
      .resume();
    const fields = await new Promise<Record<string, unknown>>((resolve) => {
      const take = (received: Record<string, unknown>) => received['grpc-status'] && resolve(received);
      stream.on('response', take).on('trailers', take);
      stream.end(grpcFrame(message));
    });
    assert.equal(Number(fields['grpc-status']), code, path);
    assert.ok(String(fields['grpc-message']).length < 2_048, path);
    session.destroy();
  }
});

test('messages of millions of empty parts', { skip }, async (t) => {
  // An empty error takes two bytes in a message, and two hundred once decoded.
  const errors = Buffer.alloc(6e6, Buffer.from([0x32, 0x00]));
  await disturb(t, async () => {
    for (let i = 0; i < 3; i++) {
      await withCall('/halogrid.v1.Nodes/Attach', async (call) => {
        const { code } = await call.listen().say(hello(), field(3, errors)).ended;
        // The connection may end first, because the coordinator does not wait for the rest of such a message.
        assert.ok(code === undefined || code === status.INTERNAL, String(code));
      });
    }
  });
});

test('requests for pages and API that are sent ahead, with answers that are not read', { skip }, async (t) => {
  const { hostname, port } = new URL(cluster.http);
  await disturb(t, async (signal) => {
    const sockets = ['/metrics', '/api/v1/jobs', '/console/pages/console.js'].flatMap((path) => {
      const ahead = `GET ${path} HTTP/1.1\r\nhost: here\r\n\r\n`.repeat(1_000);
      return Array.from({ length: 4 }, () => {
        const socket = connect(Number(port), hostname).on('error', () => {});
        socket.pause();
        socket.write(ahead);
        return socket;
      });
    });
    try {
      await once(signal, 'abort');
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});
