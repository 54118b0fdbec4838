import { changedVideo, openVideoFile, type VideoFile } from '@halogrid/imaging';
import type { VideoSegment } from '@halogrid/proto';
import { type AskedFrame, leftOf } from './asked-frame.ts';
import type { FrameOutcomes } from './frame-outcomes.ts';
import { hasJpegs, runRecordedJpegs } from './recorded-jpegs.ts';
import { runSegment } from './run-segment.ts';
import { needsPreview } from './shard-job.ts';
import type { ShardRun } from './shard-run.ts';
import { errorsOf } from './source-errors.ts';
import type { LeasedSource } from './unpack-lease.ts';

/**
 * Computes the frames of `sources`, which belong to one video. The device may decode frames of MJPEG; a video decoder
 * decodes all others, and the frames that the device leaves.
 */
export async function runVideo(
  run: ShardRun,
  sources: readonly LeasedSource[],
  segment: VideoSegment,
  outcomes: FrameOutcomes,
): Promise<void> {
  const { jpegs } = run.means;
  const frames = sources.map((source, position): AskedFrame => ({ source, position }));
  try {
    await withVideo(run, sources[0]!.uri, segment.version, async (file) => {
      const decodeLeft = () => runSegment(run, leftOf(frames, outcomes), segment, file, outcomes);
      if (jpegs?.isOn && (await hasJpegs(file, segment))) {
        // About how many bytes a device would decode.
        const bytes = frames.length * segment.size;
        // A preview shows the pixels of its source, which the device does not return.
        const asked = frames.filter(({ source }) => !needsPreview(source));
        await jpegs.decode(frames.length, bytes, {
          device: () => runRecordedJpegs(run, asked, segment, file, outcomes),
          cores: async () => {
            await decodeLeft();
            return { done: bytes };
          },
        });
      }
      await decodeLeft();
    });
  } catch (error) {
    // Earlier frames are dropped too: they may come from another version of the file.
    for (const [position, why] of (await errorsOf(sources, error)).entries()) outcomes.fail(position, why);
  }
}

/** Opens a video for `use`, and checks at the end that it is still the planned version. */
async function withVideo(
  run: ShardRun,
  uri: string,
  version: string,
  use: (file: VideoFile) => Promise<void>,
): Promise<void> {
  const file = await run.turn.clock.time('read', () => openVideoFile(uri, version || undefined));
  try {
    // A coordinator that serves the file checks its version.
    if (version !== '' && file.version !== version) throw changedVideo();
    await use(file);
    await file.checkVersion();
  } finally {
    file.close();
  }
}
