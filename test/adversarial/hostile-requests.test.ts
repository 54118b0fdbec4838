import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import {
  CancelRequest,
  ChangesRequest,
  JobSpec,
  JobState,
  ListFramesRequest,
  ListRequest,
  SearchRequest,
  SubmitRequest,
} from '@halogrid/proto';
import { beside, sampled, within } from '@halogrid/testing';
import { Cluster } from '../cluster.ts';
import { drawPicture, writePgm } from '../picture-files.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { fixedWork, promptTimesWork } from './fixed-work.ts';
import { RawCall } from './raw-call.ts';

// Requests in which each parameter is as long, as deep or as numerous as possible. During each request, /healthz must
// answer at once, and no message may mention internals of the program. A run tries a third of them.

/**
 * How often to try again: another program may have used the cores, but a delay that the request causes occurs each
 * time.
 */
const tries = 4;

const folder = scratchFolder();
const root = join(folder, 'root');
let cluster: Cluster;

before(async () => {
  await mkdir(join(root, 'in'), { recursive: true });
  await writePgm(join(root, 'in/a.pgm'), drawPicture(64, 64));
  await writeFile(join(root, 'deep.txt'), `/${'a/'.repeat(32_000)}x.jpg\n${root}/in/a.pgm\n`);
  await writeFile(join(root, 'levels.txt'), `${`${root}/${'a/'.repeat(200)}x.jpg\n`.repeat(2_000)}${root}/in/a.pgm\n`);
  cluster = await Cluster.start({ nodes: 0, options: ['--data-root', root] });
  await fixedWork();
});
after(() => cluster?.stop());

/** Resolves with the status and the text of the answer; a closed connection counts as an answer too. */
function ask(path: string, { method = 'GET', body }: { method?: string; body?: string | Buffer } = {}, agent?: Agent) {
  const headers = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length };
  return new Promise<string>((resolve) => {
    const asked = request(`${cluster.http}/`, { method, path, headers, agent: agent ?? false }, (response) => {
      let text = `${response.statusCode} `;
      response.setEncoding('utf8').on('data', (part: string) => {
        text = (text + part).slice(0, 10_000);
      });
      response.once('close', () => resolve(text));
    });
    asked.once('error', ({ message }) => resolve(message)).end(body);
  });
}

async function call(path: string, message: Uint8Array): Promise<string> {
  const raw = new RawCall(cluster.address, path);
  try {
    raw.listen();
    raw.say(message).finish();
    const { code, details } = await raw.ended;
    return `${code ?? 'closed'} ${details}`;
  } finally {
    raw.hangUp();
  }
}

/**
 * The longest delay of /healthz until `act` is over, as a multiple of the fixed work beside it, and the result of
 * `act`.
 */
async function longestWait(act: () => Promise<string>): Promise<{ timesWork: number; said: string }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let isOver = false;
  let timesWork = 0;
  const probe = async (): Promise<void> => {
    do {
      const { ms, controlMs } = await beside(
        async () => assert.match(await ask('/healthz', {}, agent), /^200 ok/),
        fixedWork,
      );
      timesWork = Math.max(timesWork, ms / controlMs);
    } while (!isOver);
  };
  const probed = probe();
  const said = await within('an answer', act());
  isOver = true;
  await probed;
  agent.destroy();
  return { timesWork, said };
}

const deep = `/${'a/'.repeat(3_900)}`;
const long = 'x'.repeat(7_800);
const json = (value: unknown): { method: string; body: string } => ({ method: 'POST', body: JSON.stringify(value) });
const form = (more: object): object => ({ sources: [join(root, 'in')], op: ['lbp'], ...more });
const many = <T>(count: number, one: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => one(i));

const overHttp: [what: string, path: string, options?: { method?: string; body?: string | Buffer }][] = [
  ['an index of thousands of levels', `/api/v1/search?row=0&index=${deep}`],
  ['an index with a long name', `/api/v1/search?row=0&index=/${long}`],
  ['an index of levels up', `/api/v1/search?row=0&index=/${'../'.repeat(2_500)}`],
  ['frames of an index of thousands of levels', `/api/v1/indexes/frames?index=${deep}`],
  ['a row of many digits', `/api/v1/search?index=a&row=${'9'.repeat(7_800)}`],
  ['a region of many digits', `/api/v1/search?index=a&row=0&region=${'9,'.repeat(3_900)}`],
  ['a URI that is long', `/api/v1/search?index=a&uri=${long}&frame=0`],
  ['changes of an output of thousands of levels', `/api/v1/changes?out=${deep}`],
  ['changes of a job with a long id', `/api/v1/changes?job=${long}`],
  ['a picture with a long ticket', `/api/v1/frames/${long}`],
  ['a folder of thousands of levels', `/api/v1/folder?path=${deep}`],
  ['a folder of links', `/api/v1/folder?path=/proc/self/root${'/proc/self/root'.repeat(400)}`],
  ['many states', `/api/v1/jobs?state=${'complete,'.repeat(800)}`],
  ['many parameters', `/api/v1/jobs?${'limit=1&'.repeat(900)}`],
  ['a long time', `/api/v1/jobs?since=${'9'.repeat(7_800)}`],
  ['a job with a long id', `/api/v1/jobs/${long}`],
  ['results of thousands of levels', `/api/v1/jobs/2026/results/${'a/'.repeat(3_800)}`],
  ['results of levels up', `/api/v1/jobs/2026/results/${'..%2F'.repeat(1_500)}`],
  ['a frame of a long URI', `/api/v1/jobs/2026/frames?uri=${long}`],
  ['a path of signs', `/${'%25'.repeat(2_500)}`],
  ['a path of slashes', '/'.repeat(7_800)],
  ['a header of many ranges', `/api/v1/jobs/2026/results/job.json?${'&'.repeat(7_000)}`],
  ['lists in lists', '/api/v1/jobs', { method: 'POST', body: '['.repeat(2 ** 20) }],
  ['objects in objects', '/api/v1/jobs', { method: 'POST', body: '{"a":'.repeat(200_000) }],
  ['a form that is null', '/api/v1/jobs', json(null)],
  ['a form of lists', '/api/v1/plan', json(form({ sources: many(1_000, () => [[]]) }))],
  ['a form of many fields', '/api/v1/jobs', json(Object.fromEntries(many(60_000, (i) => [`f${i}`, i])))],
  ['many sources', '/api/v1/jobs', json(form({ sources: many(60_000, (i) => `/s/${i}`) }))],
  ['a source of thousands of levels', '/api/v1/jobs', json(form({ sources: [deep] }))],
  ['an output of thousands of levels', '/api/v1/jobs', json(form({ out: deep }))],
  ['a plan of a source of thousands of levels', '/api/v1/plan', json(form({ sources: [deep] }))],
  ['a matrix of lists in lists', '/api/v1/jobs', json(form({ op: [`conv:matrix=${'['.repeat(30_000)}`] }))],
  ['an operation of many parameters', '/api/v1/jobs', json(form({ op: [`lbp:${'a=1,'.repeat(200_000)}`] }))],
  ['a grid of many digits', '/api/v1/jobs', json(form({ grid: '9'.repeat(500_000) }))],
  ['a number of many digits', '/api/v1/jobs', { method: 'POST', body: `{"tilePx":${'9'.repeat(500_000)}}` }],
  ['many operations', '/api/v1/jobs', json(form({ op: many(150_000, () => 'lbp') }))],
  ['many empty pipelines', '/api/v1/jobs', json(form({ pipelines: { named: many(300_000, () => ({})) } }))],
  ['a field with a long name', '/api/v1/plan', json(form({ ['x'.repeat(2 ** 19)]: 1 }))],
  ['a long id that is watched', `/api/v1/jobs/${long}/watch`],
  ['a picture of nothing', '/api/v1/search?index=a', { method: 'POST', body: Buffer.alloc(15 * 2 ** 20) }],
  ['a manifest with a line of thousands of levels', '/api/v1/jobs', json(form({ sources: [join(root, 'deep.txt')] }))],
  ['a manifest of many deep paths', '/api/v1/jobs', json(form({ sources: [join(root, 'levels.txt')] }))],
];

const spec = (more: Partial<JobSpec>): JobSpec =>
  JobSpec.fromPartial({
    sources: [pathToFileURL(join(root, 'in')).href],
    pipeline: { operations: [{ kernel: 'lbp' }] },
    out: pathToFileURL(join(root, 'out')).href,
    mapFormat: 'none',
    ...more,
  });
const submit = (more: Partial<JobSpec>): Uint8Array =>
  SubmitRequest.encode(SubmitRequest.fromPartial({ spec: spec(more), nameOutByJob: true })).finish();
const operation = (parameters: Record<string, string>) => ({
  operations: [{ kernel: 'conv', parameters, border: '' }],
});
const pattern = `${'{'.repeat(60)}${'*'.repeat(60)}${'%Y'.repeat(40)}`;

const overGrpc: [what: string, path: string, message: () => Uint8Array][] = [
  ['nothing', 'Jobs/Submit', () => new Uint8Array()],
  ['a source of thousands of levels', 'Jobs/Submit', () => submit({ sources: [`file:///${'a/'.repeat(4_000)}`] })],
  ['levels in a root', 'Jobs/Submit', () => submit({ sources: [`file://${root}/${'a/'.repeat(120)}x.jpg`] })],
  ['a source of levels up', 'Jobs/Submit', () => submit({ sources: [`file:///${'../'.repeat(2_700)}`] })],
  ['an output of thousands of levels', 'Jobs/Submit', () => submit({ out: `file:///${'a/'.repeat(4_000)}` })],
  ['an output of an escaped path', 'Jobs/Submit', () => submit({ out: `file:///${'%61/'.repeat(2_000)}` })],
  ['a glob of folders', 'Jobs/Submit', () => submit({ sources: [`file://${root}/${'**/'.repeat(2_500)}*.x`] })],
  ['a glob of stars', 'Jobs/Submit', () => submit({ sources: [`file://${root}/${'*a'.repeat(3_900)}`] })],
  ['braces in braces', 'Jobs/Submit', () => submit({ sources: [`file://${root}/${'{a,'.repeat(2_500)}`] })],
  ['many sources', 'Jobs/Submit', () => submit({ sources: many(65_536, (i) => `file:///${'a/'.repeat(60)}${i}`) })],
  ['the same source', 'Jobs/Submit', () => submit({ sources: many(65_536, () => `file://${root}/in/a.pgm`) })],
  ['too many sources', 'Jobs/Submit', () => submit({ sources: many(150_000, (i) => `file:///${i}`) })],
  ['hosts', 'Jobs/Submit', () => submit({ sources: many(60_000, (i) => `http://${'a.'.repeat(60)}${i}/`) })],
  ['a matrix of lists', 'Jobs/Submit', () => submit({ pipeline: operation({ matrix: '['.repeat(32_000) }) })],
  ['a matrix of digits', 'Jobs/Submit', () => submit({ pipeline: operation({ matrix: `[[${'9'.repeat(32_000)}]]` }) })],
  [
    'many parameters',
    'Jobs/Submit',
    () => submit({ pipeline: operation(Object.fromEntries(many(100, (i) => [`p${i}`, 'v'.repeat(32_000)]))) }),
  ],
  [
    'many pipelines',
    'Jobs/Submit',
    () => submit({ pipelines: { named: many(50_000, (i) => ({ name: `n${i}`, pipeline: operation({}), op: [] })) } }),
  ],
  [
    'a grid that is large',
    'Jobs/Submit',
    () => submit({ grid: { rows: 2 ** 32 - 1, columns: 2 ** 32 - 1 }, verifyPercent: Number.NaN }),
  ],
  ['a pattern', 'Jobs/Submit', () => submit({ captured: { from: pattern, zone: long } })],
  [
    'a long id',
    'Jobs/Cancel',
    () => CancelRequest.encode(CancelRequest.fromPartial({ jobId: 'x'.repeat(2 ** 23) })).finish(),
  ],
  [
    'many states',
    'Jobs/List',
    () => ListRequest.encode(ListRequest.fromPartial({ states: many(2 ** 22, () => JobState.FAILED) })).finish(),
  ],
  [
    'an index of thousands of levels',
    'Search/Search',
    () =>
      SearchRequest.encode(
        SearchRequest.fromPartial({ index: `/${'a/'.repeat(4_000)}`, query: { $case: 'row', value: 0 } }),
      ).finish(),
  ],
  [
    'a picture of nothing',
    'Search/Search',
    () =>
      SearchRequest.encode(
        SearchRequest.fromPartial({ index: root, query: { $case: 'image', value: Buffer.alloc(15 * 2 ** 20) } }),
      ).finish(),
  ],
  [
    'frames of an index of thousands of levels',
    'Search/ListFrames',
    () => ListFramesRequest.encode(ListFramesRequest.fromPartial({ index: `/${'a/'.repeat(4_000)}` })).finish(),
  ],
  [
    'changes of an output of thousands of levels',
    'Search/Changes',
    () => ChangesRequest.encode(ChangesRequest.fromPartial({ out: `/${'a/'.repeat(4_000)}` })).finish(),
  ],
  ['noise', 'Jobs/Submit', () => Buffer.alloc(2 ** 20, 0x0a)],
  ['fields in fields', 'Jobs/Submit', () => nested(2 ** 18)],
];

/** Messages in messages: field 1, with its length. */
function nested(bytes: number): Uint8Array {
  const parts: Buffer[] = [];
  for (let length = 0; length < bytes; ) {
    const head = Buffer.from([0x0a, (length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, (length >> 14) & 0x7f]);
    parts.push(head);
    length += head.length;
  }
  return Buffer.concat(parts.reverse());
}

async function assertCalm(act: () => Promise<string>): Promise<void> {
  let most = 0;
  for (let i = 0; i < tries; i++) {
    const { timesWork, said } = await longestWait(act);
    assert.doesNotMatch(said, /Cannot read|undefined|is not a function|\bNaN\b|at file:|node:internal/);
    // The library itself refuses bytes that are not a message, always with the same status.
    assert.doesNotMatch(said, /^(500 |13 (?!Error deserializing request$))/);
    most = timesWork;
    if (most <= promptTimesWork) return;
  }
  assert.fail(`/healthz waited as long as ${most.toFixed()} times the fixed work, ${tries} times`);
}

for (const [what, path, options] of sampled(overHttp, 14)) {
  test(`HTTP: ${what} does not delay others`, () => assertCalm(() => ask(path, options)));
}
for (const [what, path, message] of sampled(overGrpc, 9)) {
  test(`gRPC: ${what} does not delay others`, async () => {
    const bytes = message();
    await assertCalm(() => call(`/halogrid.v1.${path}`, bytes));
  });
}
