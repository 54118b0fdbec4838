import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import type { OutputLack } from '@halogrid/jobs/output-lack';
import type { Shard } from '@halogrid/jobs/shard';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { Cause, type Probe, type SeenFile } from '@halogrid/proto';
import type { InputFault } from '@halogrid/sources';
import { NodeProbes, type Shown } from './node-probes.ts';
import type { Eyes } from './own-view.ts';

const need = 'read file:///a';
const uris = ['file:///a/1.pgm', 'file:///a/2.pgm'];
const shard: Shard = {
  shard: 0,
  costBytes: 1,
  needs: [need],
  work: { kind: 'frames', sources: plannedSources(uris.map((uri, index) => ({ index, uri, version: 'x', pin: 'x' }))) },
};

/** A coordinator that sees these files, which the test may change, and a node that is asked. */
function createStage(files: Map<string, string>) {
  const stage = {
    files,
    identity: 'disk 1' as string | undefined,
    own: undefined as OutputLack | undefined,
    fault: 'access' as InputFault,
  };
  const eyes: Eyes = {
    see: async (uri) => {
      const content = stage.files.get(uri);
      if (content === undefined) return { kind: 'not there', reason: 'gone', isMissing: true, fault: stage.fault };
      return { kind: 'there', file: { version: content, sha256: hash('sha256', content, 'buffer'), sizeBytes: 1 } };
    },
    identify: async () => stage.identity,
    free: async () => undefined,
    whyNotWritten: async () => stage.own,
  };
  const told: [session: number, need: string, shown: Shown][] = [];
  let nowMs = 0;
  const probes = new NodeProbes(
    eyes,
    () => nowMs,
    (...shown) => void told.push(shown),
  );
  probes.samples.note(shard);
  const asked: Probe[] = [];
  const ask = (what = need, isRemote = false) =>
    probes.ask({ session: 1, isRemote, timeZoneData: '2025b', probe: (probe) => void asked.push(probe) }, what);
  const later = () => {
    nowMs += 10_000;
  };
  return { stage, probes, told, asked, ask, later };
}

const seen = (content: string): SeenFile => ({
  version: content,
  sha256: hash('sha256', content, 'buffer'),
  error: '',
  cause: Cause.UNSPECIFIED,
});
const both = () => new Map(uris.map((uri) => [uri, 'x']));

test('a node that sees the same as the coordinator has shown the need', async () => {
  const { probes, told, asked, ask } = createStage(both());
  await ask();
  assert.deepEqual(asked, [{ probe: 1, files: uris.map((uri) => ({ uri, whole: false })), write: '' }]);
  await probes.answered(1, { probe: 1, files: [seen('x'), seen('x')], error: '' });
  assert.deepEqual(told, [[1, need, { kind: 'NeedShown' }]]);
});

const wrong: [what: string, SeenFile[], RegExp][] = [
  [
    'cannot read a file',
    [seen('x'), { ...seen('x'), error: 'The file does not exist' }],
    /^The file does not exist \(\/a\/2.pgm\)$/,
  ],
  [
    'has another version',
    [seen('y'), seen('x')],
    /^It is another file there: size and time .* 'y' and not 'x' \(\/a\/1.pgm\)$/,
  ],
  ['has other content', [{ ...seen('y'), version: 'x' }, seen('x')], /^It is another file there: its content differs/],
  ['leaves a file out', [seen('x')], /^It has not shown the file/],
];
for (const [what, files, reason] of wrong) {
  test(`a node that ${what} lacks the folder`, async () => {
    const { probes, told, ask } = createStage(both());
    await ask();
    await probes.answered(1, { probe: 1, files, error: '' });
    const shown = told[0]![2];
    assert.match(shown.kind === 'NeedLacked' ? shown.reason : shown.kind, reason);
  });
}

test('a file that is deleted, or written to, while a node looks proves nothing about the node', async () => {
  for (const now of [undefined, 'z']) {
    const { stage, probes, told, ask } = createStage(both());
    await ask();
    if (now === undefined) stage.files.delete(uris[0]!);
    else stage.files.set(uris[0]!, now);
    const first = now === undefined ? { ...seen(''), error: 'The file does not exist' } : seen(now);
    await probes.answered(1, { probe: 1, files: [first, seen('x')], error: '' });
    assert.deepEqual(told, [[1, need, { kind: 'NeedShown' }]]);
  }
});

test('a file that is written to all the time proves nothing about the node', async () => {
  const { stage, probes, told, ask } = createStage(both());
  await ask();
  stage.files.set(uris[0]!, 'longer');
  await probes.answered(1, { probe: 1, files: [seen('long'), seen('x')], error: '' });
  assert.deepEqual(told, [[1, need, { kind: 'NeedShown' }]]);
});

test('if the coordinator cannot see a file, a node is believed to see it', async () => {
  const { probes, asked, told, ask } = createStage(new Map());
  probes.listed(need);
  await ask();
  assert.deepEqual([asked, told], [[], [[1, need, { kind: 'NeedShown' }]]]);
});

test('no node shows a folder that is gone for the coordinator too', async () => {
  const { stage, told, ask, later } = createStage(both());
  await ask();
  stage.files.clear();
  stage.identity = 'an empty folder';
  later();
  await ask();
  const reason = 'the coordinator cannot read it any more either';
  assert.deepEqual(told, [[1, need, { kind: 'NeedLacked', reason }]]);
});

test('a folder that an earlier coordinator listed is gone until this one has seen something in it', async () => {
  const { stage, probes, told, asked, ask, later } = createStage(new Map());
  await ask();
  assert.equal(told[0]![2].kind, 'NeedLacked');
  assert.equal(await probes.isGone(need), true);
  stage.files.set(uris[0]!, 'x');
  later();
  await ask();
  assert.equal(asked.length, 1);
  assert.equal(await probes.isGone(need), false);
});

test('a folder is still there if all its samples were deleted', async () => {
  const { stage, told, ask, later } = createStage(both());
  await ask();
  stage.files.clear();
  later();
  await ask();
  assert.deepEqual(told, [[1, need, { kind: 'NeedShown' }]]);
});

test('after a node failed to read a file, nodes are asked to read it to its end', async () => {
  const { probes, asked, ask } = createStage(both());
  probes.samples.failed(need, uris[1]!);
  await ask();
  assert.deepEqual(asked[0]!.files, [
    { uri: uris[1], whole: true },
    { uri: uris[0], whole: false },
  ]);
});

test('a node without our storage is not asked for files, and has the decoders that it said', async () => {
  const { asked, told, ask } = createStage(both());
  await ask(need, true);
  await ask('write file:///out', true);
  await ask('decode video');
  assert.equal(asked.length, 0);
  assert.deepEqual(
    told.map(([, , { kind }]) => kind),
    ['NeedShown', 'NeedShown', 'NeedShown'],
  );
});

const full: OutputLack = { kind: 'room', error: 'ENOSPC: no space left on device, write', freeBytes: 0 };

test("if the coordinator cannot write either, its own error counts, whatever the node's is", async () => {
  const blind = 'The path lies outside of the data roots (--data-root)';
  for (const own of [undefined, full]) {
    const { stage, probes, asked, told, ask } = createStage(both());
    stage.own = own;
    await ask('write file:///out');
    assert.equal(asked[0]!.write, 'file:///out');
    await probes.answered(1, { probe: 1, files: [], error: blind });
    assert.deepEqual(
      told[0]![2],
      own ? { kind: 'NeedLacked', reason: own.error, own } : { kind: 'NeedLacked', reason: blind },
    );
  }
});

test('a node that writes through the coordinator lacks whatever the coordinator lacks', async () => {
  const { stage, told, ask } = createStage(both());
  stage.own = full;
  await ask('write file:///out', true);
  assert.deepEqual(told[0]![2], { kind: 'NeedLacked', reason: full.error, own: full });
});

test('an answer from another conversation, without a probe, or a second one is ignored', async () => {
  const { probes, told, ask } = createStage(both());
  await ask();
  const answer = { probe: 1, files: [seen('x'), seen('x')], error: '' };
  await probes.answered(2, answer);
  await probes.answered(1, { ...answer, probe: 7 });
  assert.equal(told.length, 0);
  await probes.answered(1, answer);
  await probes.answered(1, answer);
  assert.equal(told.length, 1);
});

const hostNeed = 'read http://far';
const farShard: Shard = {
  shard: 0,
  costBytes: 1,
  needs: [hostNeed],
  work: { kind: 'frames', sources: plannedSources([1, 2].map((index) => ({ index, uri: `http://far/${index}.pgm` }))) },
};

test('if the coordinator cannot read the files of a host, a node tries itself, and lacks the host if all are away', async () => {
  const failed = (cause: Cause): SeenFile => ({ version: '', sha256: Buffer.alloc(0), error: 'No', cause });
  const table: [files: SeenFile[], shown: Shown][] = [
    [[failed(Cause.AWAY), failed(Cause.AWAY)], { kind: 'NeedLacked', reason: 'No (http://far/1.pgm)' }],
    [[failed(Cause.CLOSED), failed(Cause.AWAY)], { kind: 'NeedLacked', reason: 'No (http://far/1.pgm)' }],
    [[failed(Cause.AWAY), seen('x')], { kind: 'NeedShown' }],
    [[failed(Cause.AWAY), failed(Cause.ACCESS)], { kind: 'NeedShown' }],
  ];
  for (const [files, shown] of table) {
    const { probes, told, asked, ask } = createStage(new Map());
    probes.samples.note(farShard);
    await ask(hostNeed);
    assert.deepEqual(
      asked[0]!.files.map(({ uri }) => uri),
      ['http://far/1.pgm', 'http://far/2.pgm'],
    );
    await probes.answered(1, { probe: 1, files, error: '' });
    assert.deepEqual(told, [[1, hostNeed, shown]]);
  }
});

test('a host that refuses its files is gone if the coordinator has seen some, or no node has read any', async () => {
  const { stage, probes, ask, later } = createStage(new Map());
  probes.samples.note(farShard);
  stage.fault = 'closed';
  const failed = { uri: 'http://far/1.pgm', fault: 'closed' } as const;
  assert.deepEqual(
    [await probes.isHostGone(hostNeed, failed, false), await probes.isHostGone(hostNeed, failed, true)],
    [true, false],
  );
  stage.files.set('http://far/2.pgm', 'x');
  later();
  await ask(hostNeed);
  assert.equal(await probes.isHostGone(hostNeed, failed, false), false);
  stage.files.clear();
  assert.equal(await probes.isHostGone(hostNeed, failed, true), true);
});

test("a node's hello shows whether it has the same time-zone data", async () => {
  const { ask, asked, told } = createStage(both());
  await ask('zones 2025b');
  await ask('zones 2026a');
  assert.deepEqual(asked, []);
  const reason = 'its time-zone data are 2025b';
  assert.deepEqual(told, [
    [1, 'zones 2025b', { kind: 'NeedShown' }],
    [1, 'zones 2026a', { kind: 'NeedLacked', reason }],
  ]);
});
