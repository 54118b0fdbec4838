import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { html } from './html.ts';
import { writeReport } from './write-report.ts';

const scratch = mkdtempSync(join(tmpdir(), 'halogrid-report-'));
after(() => rmSync(scratch, { recursive: true }));

const operations = [{ kernel: 'lbp', parameters: {}, border: 'interior' }];
const hostile = '<script>alert("x")</script>';
const uri = `file:///data/${encodeURIComponent(hostile)}.jpg`;

const job = {
  id: '20260131-235959-0a1b2c',
  state: 'complete',
  version: '0.1.0',
  resultsVersion: 5,
  digest: 'd1ce57',
  convention: 'nw-cw-msb',
  counts: { sources: 3, frames: 2, shards: 1, attempts: 1, pixels: 5_529_600, quarantined: 1 },
  quarantine: [{ stage: 'decode', error: hostile, inputs: 1, example: uri }],
  mended: [{ mended: 'bytes after the end', inputs: 2, example: uri }],
  wallSeconds: 1.5,
  seconds: { read: 0.5, decode: 1.25, upload: 0 },
  nodes: [{ name: `"onload="${hostile}`, device: 'a GPU', shards: 1 }],
  specification: {
    sources: ['file:///data'],
    pipeline: { operations },
    out: 'file:///out',
    mapFormat: 'none',
    grid: { rows: 4, columns: 6 },
  },
  sources: [{ uri, name: 'a' }],
};

/** An output folder with these files. */
function folderOf(files: Record<string, string>): string {
  const folder = mkdtempSync(join(scratch, 'out-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

async function pageOf(files: Record<string, string>): Promise<string> {
  const file = join(scratch, 'page.html');
  assert.equal(await writeReport(folderOf(files), file), file);
  return readFileSync(file, 'utf8');
}

const whole = {
  'job.json': JSON.stringify(job),
  'errors.jsonl': `${JSON.stringify({ uri, frame: 0, stage: 'decode', error: hostile, attempts: 1 })}\n`,
  'histogram.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'preview/a.png': 'map',
  'preview/a.source.jpg': 'source',
};

test('a page shows the job, its results, its quarantined inputs and its pictures', async () => {
  const page = await pageOf(whole);
  const said = ['d1ce57', 'nw-cw-msb', '4 × 6 cells', 'lbp:', 'bytes after the end', 'a GPU', '1.25 s', '5.53 Mpx'];
  for (const words of said) assert.ok(page.includes(words), words);
  for (const picture of ['map', 'source', whole['histogram.svg']]) {
    assert.ok(page.includes(`;base64,${Buffer.from(picture).toString('base64')}"`), picture);
  }
});

test('names of files and errors are escaped, so the page runs and fetches nothing', async () => {
  const page = await pageOf(whole);
  assert.doesNotMatch(page, /<script|onload="/);
  assert.match(page, /&lt;script&gt;alert\(&quot;x&quot;\)&lt;\/script&gt;/);
  assert.match(
    page,
    /content="default-src 'none'; img-src data:; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'"/,
  );
  assert.doesNotMatch(page, /(?:src|href)="(?!data:)/);
});

test('a template escapes any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const { text: page } = html`<p title="${text}">${text}</p>`;
      assert.doesNotMatch(page.slice('<p title='.length + 1, -'</p>'.length).replace('">', ''), /[<>"]/);
    }),
  );
});

test('each of several pipelines has its part', async () => {
  const named = ['codes', 'edges'].map((name) => ({ name, pipeline: { operations } }));
  const { pipeline: _, ...rest } = job.specification;
  const pipelines = named.map(({ name }) => ({ name, convention: 'c', digest: `of-${name}` }));
  const several = { ...job, pipelines, specification: { ...rest, pipelines: { named } } };
  const page = await pageOf({
    'job.json': JSON.stringify(several),
    'pipelines/codes/job.json': JSON.stringify(job),
    'pipelines/codes/histogram.svg': '<svg/>',
    'pipelines/edges/job.json': JSON.stringify(job),
    'pipelines/edges/preview/a.png': 'map',
  });
  for (const words of ['Pipeline codes', 'Pipeline edges', 'of-codes', 'of-edges'])
    assert.ok(page.includes(words), words);
});

test('a failed job has a page that says why', async () => {
  const failed = { ...job, state: 'failed', error: hostile };
  assert.match(await pageOf({ 'job.json': JSON.stringify(failed) }), /<p class="error">&lt;script&gt;/);
});

const bad: [what: string, files: Record<string, string>, sentence: RegExp][] = [
  ['nothing', {}, /^Expected the output of a job but '.*' has no job\.json$/],
  [
    'a job.json that is cut off',
    { 'job.json': '{"id":' },
    /^Expected the job\.json of a job but that of '.*' is not one$/,
  ],
  ['a job.json of another program', { 'job.json': '{"id":"x"}' }, /is not one$/],
  [
    'a job that runs',
    { 'job.json': JSON.stringify({ id: 'x', state: 'running', specification: job.specification }) },
    /^Expected a job that has ended but that of '.*' is running or was interrupted/,
  ],
  [
    'a pipeline that leads elsewhere',
    { 'job.json': JSON.stringify({ ...job, pipelines: [{ name: '../x', convention: '', digest: '' }] }) },
    /^Expected names of pipelines/,
  ],
];

for (const [what, files, sentence] of bad) {
  test(`a folder with ${what} is refused in a sentence`, async () => {
    await assert.rejects(writeReport(folderOf(files)), { name: 'UsageError', message: sentence });
  });
}
