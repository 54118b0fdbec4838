import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Shard } from '@halogrid/jobs/shard';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { Cause } from '@halogrid/proto';
import type { Verdict } from '../scheduler/events.ts';
import type { OwnView } from './own-view.ts';
import { vetAnswer } from './vet-answer.ts';

const need = 'read file:///a';
const uri = (index: number): string => `file:///a/${index}.pgm`;

/**
 * Ten frames, listed in version 'v', except one that a manifest states to have one byte, and the last one, which has no
 * known version.
 */
const shard: Shard = {
  shard: 0,
  costBytes: 1,
  needs: [need],
  work: {
    kind: 'frames',
    sources: plannedSources(
      Array.from({ length: 10 }, (_, index) => {
        const pin = index === 7 ? 'size=1' : 'v';
        return { index, uri: uri(index), ...(index < 9 && { pin }) };
      }),
    ),
  },
};

const there = (version = 'v'): OwnView => ({
  kind: 'there',
  file: { version, sha256: new Uint8Array(32), sizeBytes: 1 },
});
const notThere = (more: Partial<Extract<OwnView, { kind: 'not there' }>> = {}): OwnView => ({
  kind: 'not there',
  reason: 'gone',
  isMissing: false,
  fault: 'access',
  ...more,
});

interface Case {
  name: string;
  errors: [source: number, cause: Cause][];
  views: Record<number, OwnView>;
  delays?: number;
  isGone?: boolean;
  verdict: Verdict['kind'];
  reads?: number;
}

const table: Case[] = [
  {
    name: 'a source that the coordinator can read is the node’s fault',
    errors: [[0, Cause.ACCESS]],
    views: { 0: there() },
    verdict: 'refuted',
  },
  {
    name: 'a source that it cannot read either is at fault',
    errors: [[0, Cause.ACCESS]],
    views: { 0: notThere() },
    verdict: 'upheld',
  },
  {
    name: 'a source that is as its manifest states is the node’s fault',
    errors: [[7, Cause.CHANGED]],
    views: { 7: there('1 17.5') },
    verdict: 'refuted',
  },
  {
    name: 'a source that differs from its manifest is at fault',
    errors: [[7, Cause.CHANGED]],
    views: { 7: there('2 17.5') },
    verdict: 'upheld',
  },
  {
    name: 'a source that was written to since it was listed is at fault',
    errors: [[0, Cause.CHANGED]],
    views: { 0: there('w') },
    verdict: 'upheld',
  },
  {
    name: 'a source that was not written to is the node’s fault',
    errors: [[0, Cause.CHANGED]],
    views: { 0: there() },
    verdict: 'refuted',
  },
  {
    name: 'one readable source refutes the answer',
    errors: [0, 1, 2, 3].map((source) => [source, Cause.ACCESS]),
    views: { 0: notThere(), 1: notThere(), 2: there(), 3: notThere() },
    verdict: 'refuted',
    // Missing files are read twice.
    reads: 5,
  },
  {
    name: 'errors of content are not vetted',
    errors: [
      [0, Cause.CONTENT],
      [1, Cause.ACCESS],
    ],
    views: { 1: notThere() },
    verdict: 'upheld',
    reads: 2,
  },
  {
    name: 'a network that fails for the coordinator as well may come back',
    errors: [[0, Cause.ACCESS]],
    views: { 0: notThere({ fault: 'away' }) },
    delays: 1,
    verdict: 'later',
  },
  {
    name: 'a network that fails again and again makes the source at fault',
    errors: [[0, Cause.ACCESS]],
    views: { 0: notThere({ fault: 'away' }) },
    delays: 2,
    verdict: 'upheld',
  },
  {
    name: 'a file that the coordinator never saw may be readable elsewhere',
    errors: [[9, Cause.ACCESS]],
    views: { 9: notThere() },
    verdict: 'untold',
  },
  {
    name: 'a file that was never in its folder, which is there, is missing',
    errors: [[9, Cause.ACCESS]],
    views: { 9: notThere({ isMissing: true }) },
    verdict: 'upheld',
  },
  {
    name: 'a folder that is gone proves nothing about a source',
    errors: [[0, Cause.ACCESS]],
    views: { 0: notThere({ isMissing: true }) },
    isGone: true,
    verdict: 'refuted',
  },
  {
    name: 'an error of a source that the shard does not have is ignored',
    errors: [[77, Cause.ACCESS]],
    views: {},
    verdict: 'upheld',
    reads: 0,
  },
];

for (const { name, errors, views, delays = 0, isGone = false, verdict, reads } of table) {
  test(name, async () => {
    const read: string[] = [];
    const failed: string[] = [];
    const eyes = {
      see: async (asked: string) => {
        read.push(asked);
        return views[Number(/(\d+)\.pgm$/.exec(asked)![1])]!;
      },
      identify: async () => undefined,
      free: async () => undefined,
      whyNotWritten: async () => undefined,
    };
    const samples = { failed: (_: string, at: string) => void failed.push(at) };
    const probes = { samples, isGone: async () => isGone, isHostGone: async () => false } as unknown as Parameters<
      typeof vetAnswer
    >[1];
    const answer = { errors: errors.map(([source, cause]) => ({ source, stage: 'read', error: 'No', cause })) };
    const found = await vetAnswer(eyes, probes, { shard, answer, delays });
    assert.equal(found.kind, verdict);
    if (reads !== undefined) assert.equal(read.length, reads);
    // Nodes are asked for the file that the node failed to read.
    assert.equal(failed.length, verdict === 'refuted' && !isGone ? 1 : 0);
    if (found.kind === 'refuted')
      assert.match(`${found.need}: ${found.reason}`, /^read file:\/\/\/a: No \(\/a\/\d\.pgm\)$/);
  });
}

test('all frames of a video are in one file, which is read once and must have the version of their segment', async () => {
  let reads = 0;
  const eyes = {
    see: async () => {
      reads++;
      return there('other');
    },
    identify: async () => undefined,
    free: async () => undefined,
    whyNotWritten: async () => undefined,
  };
  const segment = { packet: 0, position: 0, size: 1, strictFrom: 0, end: 9, version: 'v', hwaccel: '' };
  const sources = [0, 1, 2].map((index) => ({ index, uri: 'file:///a/v.mp4', place: { packet: index } }));
  const errors = sources.map(({ index }) => ({ source: index, stage: 'read', error: 'No', cause: Cause.ACCESS }));
  const video: Shard = {
    shard: 0,
    costBytes: 1,
    needs: [need],
    work: { kind: 'frames', sources: plannedSources(sources), segment },
  };
  const probes = {
    samples: { failed() {} },
    isGone: async () => false,
    isHostGone: async () => false,
  } as unknown as Parameters<typeof vetAnswer>[1];
  const { kind } = await vetAnswer(eyes, probes, { shard: video, answer: { errors }, delays: 0 });
  assert.deepEqual([kind, reads], ['upheld', 1]);
});

test('a folder that comes back while the coordinator looks proves nothing about its files', async () => {
  let looks = 0;
  const eyes = {
    see: async () => (looks++ === 0 ? notThere({ isMissing: true }) : there()),
    identify: async () => undefined,
    free: async () => undefined,
    whyNotWritten: async () => undefined,
  };
  const probes = {
    samples: { failed() {} },
    isGone: async () => false,
    isHostGone: async () => false,
  } as unknown as Parameters<typeof vetAnswer>[1];
  const errors = [{ source: 0, stage: 'read', error: 'No', cause: Cause.ACCESS }];
  assert.equal((await vetAnswer(eyes, probes, { shard, answer: { errors }, delays: 0 })).kind, 'refuted');
});

const far = (index: number): string => `http://far/${index}.pgm`;
const farNeed = 'read http://far';

interface HostCase {
  name: string;
  cause: Cause;
  view: OwnView;
  /** Whether another file of the host fails, too. */
  isHostGone: boolean;
  /** The number of frames of the shard; the first has an error. */
  frames?: number;
  /** Undefined if no version was known. */
  version?: string;
  verdict: Verdict['kind'];
}

const hostTable: HostCase[] = [
  {
    name: 'it is away for all its files',
    cause: Cause.AWAY,
    view: notThere({ fault: 'away' }),
    isHostGone: true,
    verdict: 'away',
  },
  { name: 'it is away only for the node', cause: Cause.AWAY, view: there(), isHostGone: false, verdict: 'refuted' },
  {
    name: 'only one file is away: later',
    cause: Cause.AWAY,
    view: notThere({ fault: 'away' }),
    isHostGone: false,
    verdict: 'later',
  },
  {
    name: 'a node that finds a file missing knows more than a coordinator that never reached the host',
    cause: Cause.ACCESS,
    view: notThere({ fault: 'away' }),
    isHostGone: true,
    verdict: 'later',
  },
  {
    name: 'a file that was listed is not missing while the host is away',
    cause: Cause.ACCESS,
    view: notThere({ fault: 'away' }),
    isHostGone: true,
    version: 'v',
    verdict: 'away',
  },
  { name: 'it is gone', cause: Cause.ACCESS, view: notThere(), isHostGone: false, version: 'v', verdict: 'upheld' },
  {
    name: 'all files are closed',
    cause: Cause.CLOSED,
    view: notThere({ fault: 'closed' }),
    isHostGone: true,
    verdict: 'away',
  },
  {
    name: 'one file is closed',
    cause: Cause.CLOSED,
    view: notThere({ fault: 'closed' }),
    isHostGone: false,
    version: 'v',
    verdict: 'upheld',
  },
];

for (const { name, cause, view, isHostGone, frames = 3, version, verdict } of hostTable) {
  test(`of a host: ${name}`, async () => {
    const eyes = { see: async () => view };
    const probes = {
      samples: { failed() {} },
      isGone: async () => false,
      isHostGone: async () => isHostGone,
    } as unknown as Parameters<typeof vetAnswer>[1];
    const sources = Array.from({ length: frames }, (_, index) => ({
      index,
      uri: far(index),
      ...(version && { pin: version }),
    }));
    const farShard: Shard = {
      shard: 0,
      costBytes: 1,
      needs: [farNeed],
      work: { kind: 'frames', sources: plannedSources(sources) },
    };
    const errors = [{ source: 0, stage: 'read', error: 'No', cause }];
    const found = await vetAnswer(eyes, probes, { shard: farShard, answer: { errors }, delays: 0 });
    assert.equal(found.kind, verdict);
    if (found.kind === 'away') assert.deepEqual([found.need, found.reason], [farNeed, 'No (http://far/0.pgm)']);
  });
}
