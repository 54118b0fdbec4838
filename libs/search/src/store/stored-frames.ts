import { countArrays } from '../scan/count-arrays.ts';
import type { Catalog } from './catalog.ts';
import { blocksOfIndex, lengthOf, readBlock, withoutPadding } from './read-block.ts';
import { noText, textAt } from './row-columns.ts';
import type { IndexFrame, JobName } from './segment-writer.ts';

/**
 * The frames of a segment in their order, and the job of each. Throws IndexError if a block is not what was written.
 */
export function* storedFrames(catalog: Catalog, segment: number): Generator<{ job: JobName; frame: IndexFrame }> {
  const { columns, segment: stored } = catalog.segments[segment]!;
  const length = lengthOf(catalog.pipeline, 'frame');
  const jobs = stored.jobs.values();
  let { frames: left, ...job } = jobs.next().value!;
  for (const place of blocksOfIndex(catalog).filter((each) => each.segment === segment)) {
    const bytes = new Uint8Array(place.bytes);
    readBlock(catalog, place, bytes);
    const counts = new countArrays[place.width](bytes.buffer);
    for (let i = 0; i < place.frames; i++) {
      const at = place.from + i;
      if (left === 0) ({ frames: left, ...job } = jobs.next().value!);
      left--;
      const camera = columns.camera[at]!;
      const frame = {
        uri: textAt(columns, columns.source[at]!),
        frame: columns.frame[at]!,
        timestampMs: columns.timestampMs[at]!,
        capturedAtMs: columns.capturedAtMs[at]!,
        camera: camera === noText ? null : textAt(columns, camera),
        bins: withoutPadding(catalog.pipeline, counts.subarray(i * length, (i + 1) * length)),
      };
      yield { job, frame };
    }
  }
}
