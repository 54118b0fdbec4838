import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobSpec } from '@halogrid/proto';
import { runningJobJson } from '../job-json.ts';
import { describeDifferences } from '../spec-differences.ts';
import { followJob } from './follow-job.ts';
import { pipelineOf } from './testing/outputs.ts';

const named = (...names: string[]) => ({
  pipeline: undefined,
  pipelines: {
    named: names.map((name) => ({ name, pipeline: pipelineOf('lbp', { labels: name }), op: [] })),
  },
});
const grid = (rows: number, columns: number) => ({ grid: { rows, columns } });
const captured = (from: string, zone = '') => ({ captured: { from, zone } });

const kept = /^$/;
const table: [then: Partial<JobSpec>, now: Partial<JobSpec>, again: RegExp][] = [
  [{}, {}, kept],
  [{}, { fresh: true, checksum: true, waitForNode: true }, kept],
  [{}, { tilePx: 512, batchFrames: 8, priority: 3 }, kept],
  [{ tilePx: 512, priority: 3 }, { tilePx: 64 }, kept],
  [{}, captured('', 'UTC'), kept],
  [captured('%Y%m%d', '+02:00'), captured('{camera}', 'Europe/Berlin'), kept],
  [captured('', 'UTC'), {}, kept],
  [captured('%Y%m%d'), captured('mtime'), kept],
  [captured('mtime'), captured('mtime', 'UTC'), kept],
  [captured('mtime'), captured('%Y%m%d'), /^The results of job old in the folder have times of change in place of /],
  [captured('mtime'), {}, / every source is computed again$/],
  [{}, { mapFormat: 'png' }, /^The results of job old in the folder have no maps: every source is computed again$/],
  [{}, grid(1, 3), / have a grid of 1x1: /],
  [grid(2, 3), grid(4, 9), / have a grid of 2x3: /],
  [grid(2, 3), grid(2, 3), kept],
  [
    named('all'),
    named('all', 'var'),
    / have no pipeline 'var': every source is read again, but only the added pipeline is computed$/,
  ],
  [
    named('all'),
    named('uniform', 'all', 'var'),
    / have no pipeline 'uniform', 'var': .*, but only the added pipelines are computed$/,
  ],
  [
    { ...named('all'), mapFormat: 'tiff' },
    { ...named('all', 'var'), mapFormat: 'tiff' },
    / have no pipeline 'var': every source is computed again$/,
  ],
  [
    named('all'),
    { ...named('all', 'var'), ...grid(2, 2) },
    / have a grid of 1x1 and no pipeline 'var': .* computed again$/,
  ],
  [named('all', 'var'), named('var', 'all'), kept],
  [{}, { mapFormat: 'tiff', ...grid(2, 2) }, / have no maps and a grid of 1x1: /],
];

const secret = { sources: ['https://host/a.png?key=hidden'] };
const specOf = (more: Partial<JobSpec>): JobSpec =>
  JobSpec.fromPartial({
    sources: ['file:///in/a.png'],
    out: 'file:///out',
    mapFormat: 'none',
    pipeline: pipelineOf('lbp', {}),
    ...more,
  });
const follow = (then: Partial<JobSpec>, now: Partial<JobSpec>) => {
  const claim = JSON.parse(runningJobJson({ jobId: 'old', spec: specOf(then) }, { host: 'here', pid: 1 }));
  return { following: followJob(claim, specOf(now)), before: claim.specification };
};

for (const [then, now, again] of table) {
  test(`a job ${JSON.stringify(now)} follows one ${JSON.stringify(then)}: ${again}`, () => {
    for (const more of [{}, secret]) {
      const { following, before } = follow({ ...then, ...more }, { ...now, ...more });
      assert.equal(following.kind, 'follows');
      assert.match((following.kind === 'follows' && following.why) || '', again);
      if (following.kind !== 'follows') continue;
      const { mapFormat, grid, pipelines } = following.there;
      assert.deepEqual(JSON.parse(JSON.stringify({ mapFormat, grid, pipelines })), {
        mapFormat: before.mapFormat,
        ...(before.grid && { grid: before.grid }),
        ...(before.pipelines && { pipelines: before.pipelines }),
      });
    }
  });
}

const refused: [then: Partial<JobSpec>, now: Partial<JobSpec>, said: RegExp][] = [
  [{ mapFormat: 'tiff' }, {}, /^map_format is none and was tiff$/],
  [{ mapFormat: 'tiff' }, { mapFormat: 'zarr' }, /^map_format is zarr and was tiff$/],
  [grid(4, 4), grid(2, 2), /^grid is 2x2 and was 4x4$/],
  [grid(2, 2), grid(3, 3), /^grid is 3x3 and was 2x2$/],
  [named('all', 'var'), named('all'), /^pipelines var is not given and was lbp:labels=var with border $/],
  [{}, named('all'), /^op is not given and was lbp; pipelines all is lbp:labels=all with border {2}and was not given$/],
  [named('all'), {}, /^op is lbp and was not given; pipelines all is not given /],
  [{}, { sources: ['file:///in/b.png'] }, /^source 1 is /],
  [{}, { verifyPercent: 5 }, /^verify_percent is 5 and was 0$/],
  [{ video: { every: 2, fpsNum: 0, fpsDen: 0, hwaccel: '' } }, {}, /^video.every is not given and was 2$/],
  // Allowed additions are not among the differences.
  [grid(2, 2), { mapFormat: 'tiff', ...captured('', 'UTC'), tilePx: 8 }, /^grid is 1x1 and was 2x2$/],
];

for (const [then, now, said] of refused) {
  test(`a job ${JSON.stringify(now)} does not follow one ${JSON.stringify(then)}`, () => {
    const { following } = follow(then, now);
    assert.ok(following.kind === 'refused');
    assert.match(String(describeDifferences(following.differences)), said);
  });
}

test('different sources are noticed even if their secret parts are left out', () => {
  const { following } = follow(secret, { sources: ['https://host/a.png?key=other'], mapFormat: 'png' });
  assert.ok(following.kind === 'refused');
  assert.match(
    String(describeDifferences(following.differences)),
    /^source 1 is \S+redacted-\w+ and was \S+redacted-\w+$/,
  );
});
