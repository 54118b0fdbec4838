import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually, standStill } from '@halogrid/testing';
import { Cluster } from './cluster.ts';
import { makeLargeIndex } from './made-index.ts';
import { hasProc } from './process-list.ts';
import { readMetrics } from './read-metrics.ts';
import { scratchFolder } from './scratch-folder.ts';

// Nodes search parts of an index, with the same results as without them.

/** Frames of 4 KiB each, enough for two parts. */
const frames = 12_000;

const questions = [
  'row=7&top=10',
  'row=9000&top=200&distance=chi2',
  'row=11999&top=5&distance=l1&per_source=2',
  'row=3&top=4&distance=cosine&group=500',
  'row=5000&top=3&distance=hellinger',
];

const skip = hasProc ? false : 'which process is the node is told by /proc';

test('the answer has the same bytes from the coordinator, from nodes, and when a node is killed meanwhile', {
  skip,
}, async (t) => {
  const index = join(scratchFolder(), 'frames.index');
  await makeLargeIndex(index, 'ldp', frames);
  const cluster = await Cluster.start({ nodes: 0, options: ['--index', index] });
  t.after(() => cluster.stop());
  const ask = async (question: string): Promise<string> => {
    const response = await fetch(`${cluster.http}/api/v1/search?index=frames.index&${question}`);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return text;
  };
  const askAll = async (): Promise<string[]> => {
    const answers: string[] = [];
    for (const question of questions) answers.push(await ask(question));
    return answers;
  };
  const metric = async (name: string): Promise<number> => (await readMetrics(cluster.http)).get(name) ?? 0;
  const searchedBy = async (http: string): Promise<number> =>
    (await readMetrics(http)).get('halogrid_node_searched_frames_total{device="cpu"}') ?? 0;

  const alone = await askAll();
  assert.equal(await metric('halogrid_searches_total{by="coordinator"}'), questions.length);

  const [stays, killed] = [await cluster.startNode('stays'), await cluster.startNode('killed')];
  assert.deepEqual(await askAll(), alone);
  for (const { http } of [stays, killed]) assert.ok((await searchedBy(http)) > 0, 'each has had a part');

  const before = await searchedBy(stays.http);
  standStill(killed.pid);
  const answer = ask(questions[0]!);
  // Once one part has been searched, all parts have been given out. On a very busy machine a node may get none.
  const part = eventually('the part of the node that stays', async () => (await searchedBy(stays.http)) > before);
  part.catch(() => {});
  await Promise.race([part, answer]);
  process.kill(killed.pid, 'SIGKILL');
  assert.equal(await answer, alone[0]);
  assert.ok((await metric('halogrid_searches_total{by="both"}')) > 0);
  assert.ok((await metric('halogrid_search_parts_failed_total')) > 0);

  assert.deepEqual(await askAll(), alone);
});
