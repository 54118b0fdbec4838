import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PixelType } from '@halogrid/geometry';
import { MissingDecoderError, NoChosenFrame, type planVideo } from '@halogrid/imaging';
import type { PlanStep } from '@halogrid/jobs/shard';
import { gatherSources } from '@halogrid/jobs/source-gatherer';
import { sourcesOf } from '@halogrid/jobs/testing-planned';
import { planVideoSteps, type VideoPlanning } from './plan-video-steps.ts';

/** Two frames in one segment. */
function planOf(pixel: PixelType): typeof planVideo {
  return async function* () {
    yield { kind: 'video', width: 1920, height: 1080, pixel };
    const start = { packet: 0, pts: 0, dts: 0, position: 48, size: 900, isKey: true, isClean: true, isHidden: false };
    const frames = [0, 1].map((frame) => ({ frame, packet: frame, timestampMs: 40 * frame }));
    yield { kind: 'segment', segment: { start, strictFrom: 0, end: 2, frames, version: '1' } };
  };
}

async function stepsOf(
  plan: typeof planVideo,
  maxBytes = 2 ** 30,
  channels = 1,
  leaveOut = () => {},
): Promise<PlanStep[]> {
  let sources = 0;
  let shards = 0;
  const source = { uri: 'file:///v.mp4', name: 'v.mp4', sizeBytes: 1, named: true };
  const planning: VideoPlanning = {
    video: undefined,
    batchFrames: 0,
    channels,
    maxFrames: 100,
    maxBytes,
    countsBytes: 0,
    expect: () => {},
    number: (name) => ({ index: sources++, uri: source.uri, name, sizeBytes: 0 }),
    leaveOut,
    setAside: (source) => [{ kind: 'sources', sources: gatherSources([source]) }],
    shard: (work, costBytes) => [
      { kind: 'sources', sources: work.sources },
      { kind: 'shard', shard: { shard: shards++, work, costBytes } },
    ],
  };
  return (await Array.fromAsync(planVideoSteps(source, planning, plan))).flat();
}

for (const [pixel, bytes] of [
  ['u8', 1],
  ['u16', 2],
] as const) {
  test(`frames of ${pixel} cost ${bytes} bytes a pixel, and no more than a node holds of a segment`, async () => {
    for (const maxBytes of [2 ** 30, 3_000_000]) {
      const steps = await stepsOf(planOf(pixel), maxBytes);
      const sources = sourcesOf(steps);
      assert.deepEqual(
        sources.map(({ size }) => size),
        Array(2).fill({ width: 1920, height: 1080, pixel }),
      );
      assert.deepEqual(
        sources.map(({ name, video, place }) => [name, video?.frame, place?.packet]),
        [
          ['v/000000', 0, 0],
          ['v/000001', 1, 1],
        ],
      );
      const costs = steps.flatMap((step) => (step.kind === 'shard' ? [step.shard.costBytes] : []));
      assert.deepEqual(costs, [Math.min(2 * 1920 * 1080 * bytes, maxBytes)]);
    }
  });
}

test('frames in colour cost three times as much', async () => {
  const steps = await stepsOf(planOf('u8'), 2 ** 30, 3);
  const costs = steps.flatMap((step) => (step.kind === 'shard' ? [step.shard.costBytes] : []));
  assert.deepEqual(costs, [3 * 2 * 1920 * 1080]);
});

test('a video without a chosen frame is left out: it has no source', async () => {
  let leftOut = 0;
  const plan: typeof planVideo = async function* () {
    yield { kind: 'video', width: 8, height: 8, pixel: 'u8' };
    throw new NoChosenFrame();
  };
  assert.deepEqual(await stepsOf(plan, 2 ** 30, 1, () => leftOut++), []);
  assert.equal(leftOut, 1);
});

test("without FFmpeg a video is set aside with a sentence, and the job goes on; another failure is not the video's fault", async () => {
  const failing = (error: Error) =>
    async function* (): ReturnType<typeof planVideo> {
      yield* [];
      throw error;
    };
  const missing = new MissingDecoderError('video', 'Videos cannot be read here');
  assert.deepEqual(sourcesOf(await stepsOf(failing(missing))), [
    {
      index: 0,
      uri: 'file:///v.mp4',
      name: 'v.mp4',
      sizeBytes: 0,
      error: { stage: 'decode', error: missing.message },
    },
  ]);
  await assert.rejects(stepsOf(failing(new Error('No process can be started'))), {
    message: 'No process can be started',
  });
});
