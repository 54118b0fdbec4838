import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { openSpanExport } from '@halogrid/service/span-export';
import { spanIdOf, traceIdOf } from '@halogrid/service/trace-context';
import { turns, within } from '@halogrid/testing';
import { JobSpans } from './job-spans.ts';

interface SentSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status: { code?: number; message?: string };
}

/** Starts a collector of OTLP spans (JSON over HTTP), and sets the variable with its address. */
async function startCollector(t: TestContext): Promise<{ spans: SentSpan[]; paths: string[] }> {
  const spans: SentSpan[] = [];
  const paths: string[] = [];
  const server = createServer(async (request, response) => {
    paths.push(request.url!);
    const { resourceSpans } = (await json(request)) as { resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[] };
    for (const { scopeSpans } of resourceSpans) spans.push(...scopeSpans.flatMap((scope) => scope.spans));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.after(() => {
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
    server.closeAllConnections();
    server.close();
  });
  return { spans, paths };
}

test('a collector gets nested spans: for the job, for each of its leases, and for each stage of a lease', async (t) => {
  const { spans, paths } = await startCollector(t);
  let ms = 10_000;
  const clock = { monotonicMs: () => ms, wallMs: () => 1_000_000 + ms };
  const out = (await openSpanExport())!;
  const jobs = new JobSpans(out, clock);
  jobs.jobStarted('the-job');
  ms = 14_000;
  jobs.merged('the-job', {
    node: 'n',
    shard: 3,
    attempt: 1,
    leasedAtMs: 11_000,
    answeredMs: 13_000,
    mergedMs: 14_000,
    pixels: 9,
    stageSeconds: {},
    mergeSeconds: 1,
    spans: [
      { stage: 'shard', from: 0, to: 1 },
      { stage: 'decode', from: 0.25, to: 0.75 },
    ],
  });
  ms = 15_000;
  jobs.jobIs('the-job', 'failed');
  // A slow collector is not given up.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await within('the end of the export', out.close());

  assert.deepEqual([...new Set(paths)], ['/v1/traces']);
  const of = (name: string) => spans.find((span) => span.name === name)!;
  const times = spans.map(({ name, startTimeUnixNano, endTimeUnixNano }) => {
    return [
      name,
      ...[startTimeUnixNano, endTimeUnixNano].map((nanos) => Number(BigInt(nanos) / 1_000_000n) - 1_000_000),
    ];
  });
  // The lease and the answer together took a second on their way.
  assert.deepEqual(times, [
    ['lease', 11_000, 14_000],
    ['shard', 11_500, 12_500],
    ['decode', 11_750, 12_250],
    ['merge', 13_000, 14_000],
    ['job', 10_000, 15_000],
  ]);
  assert.ok(spans.every(({ traceId }) => traceId === traceIdOf('the-job')));
  assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length);
  assert.equal(of('job').spanId, spanIdOf('the-job'));
  assert.deepEqual([of('job').parentSpanId, of('job').status.code], [undefined, 2]);
  assert.deepEqual([of('lease').parentSpanId, of('lease').spanId], [spanIdOf('the-job'), spanIdOf('the-job', 3, 1)]);
  for (const name of ['shard', 'decode', 'merge']) assert.equal(of(name).parentSpanId, of('lease').spanId, name);
});

test('without a collector, there is no export', async () => {
  assert.equal(await openSpanExport({}), undefined);
});

test('a missing collector delays the end by at most five seconds', async (t) => {
  // After that time the export does not keep the process from ending.
  Object.assign(process.env, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TIMEOUT: '2000' });
  t.after(() => {
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
    delete process.env.OTEL_EXPORTER_OTLP_TIMEOUT;
  });
  const out = (await openSpanExport())!;
  out.add({ name: 'job', traceId: traceIdOf('j'), spanId: spanIdOf('j'), fromMs: 0, toMs: 1, attributes: {} });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let isClosed = false;
  void out.close().then(() => {
    isClosed = true;
  });
  await turns(5);
  assert.equal(isClosed, false);
  t.mock.timers.tick(5_000);
  await turns(5);
  assert.equal(isClosed, true);
});
