import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { JobSpec } from '@halogrid/proto';
import { resultsVersion } from '@halogrid/service/version';
import { findEarlierRun } from './earlier-run.ts';

const spec = (out: string, more: object = {}) =>
  JobSpec.fromPartial({ sources: ['file:///in'], out: pathToFileURL(out).href, mapFormat: 'none', ...more });

test('the newest complete results of the same job in a folder next to it are found', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-earlier-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const keep = async (id: string, written: object, more: object = {}) => {
    await mkdir(join(folder, id));
    // Files leave out lists that are empty.
    const { op: _, ...specification } = spec(join(folder, id), more);
    const claim = { id, state: 'complete', resultsVersion, specification, ...written };
    await writeFile(join(folder, id, 'job.json'), JSON.stringify(claim));
  };
  const own = '20260109-000000-aaaaaa';
  const find = () => findEarlierRun(spec(join(folder, own)), own);
  assert.equal(await find(), undefined);
  await keep('20260108-000000-aaaaaa', { state: 'failed' });
  await keep('20260107-000000-aaaaaa', { resultsVersion: resultsVersion - 1 });
  await keep('20260106-000000-aaaaaa', {}, { tilePx: 512 });
  await keep('20260105-000000-aaaaaa', { id: 'another' });
  await keep('results', {});
  await mkdir(join(folder, '20260104-000000-aaaaaa'));
  assert.equal(await find(), undefined);
  await keep('20260101-000000-aaaaaa', {});
  await keep('20260102-000000-aaaaaa', {});
  assert.equal(await find(), join(folder, '20260102-000000-aaaaaa'));
  await keep(own, {});
  assert.equal(await find(), join(folder, '20260102-000000-aaaaaa'));
});
