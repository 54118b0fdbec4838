import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { histogramShape } from '@halogrid/results/histogram-shape';
import { jobGrid } from '../job/accepted-job.ts';
import { readFact } from '../log/fact-codec.ts';
import { FolderLogs } from '../log/folder-logs.ts';
import { JobLog } from '../log/job-log.ts';
import { memoryFolder } from '../testing/memory-folder.ts';
import { foundShard, memoryParts } from '../testing/memory-parts.ts';
import { plannedSources } from '../testing/planned.ts';
import { LoggedJob } from './logged-job.ts';
import { jobId, pipeline, spec } from './testing/ledger-scene.ts';

const folder = await mkdtemp(join(memoryFolder, 'halogrid-logged-job-'));
after(() => rm(folder, { recursive: true, force: true }));

test('sources that are kept are never planned without their results, wherever a leader dies', async () => {
  const place = new FolderLogs(folder, jobId);
  const shapes = [histogramShape(pipeline, jobGrid(spec))];
  const log = JobLog.create({ place, epoch: 1, shapes, groupBytes: 1 }, 5);
  const job = new LoggedJob(jobId, spec, log, memoryParts(spec), false);
  const told = [0, 1, 2].map((index) => ({ index, uri: `file:///${index}`, ...(index !== 1 && { kept: 'earlier' }) }));
  const bins = Array.from({ length: pipeline.bins }, (_, bin) => (bin === 5 ? 6 : 0));
  const size = { width: 3, height: 2 };
  const sources = plannedSources(told);
  const results = [0, 2].map((source) => ({ source, size, rect: { x: 0, y: 0, ...size }, counted: 6, bins }));
  job.addPlan([{ kind: 'sources', sources, kept: foundShard(sources.block, results, shapes) }], true);
  await job.append();
  const groups = await Array.fromAsync(place.groups(1, 0, log.marks[0]!.bytes));
  assert.deepEqual(
    groups.map(({ facts }) => facts.map((fact) => readFact(fact).kind)),
    [['checkpoint'], ['planned']],
  );
  assert.equal(job.record.counts.kept, 2);
  await job.close();
});
