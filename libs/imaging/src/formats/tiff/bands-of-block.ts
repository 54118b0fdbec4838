import type { Rect } from '@halogrid/geometry';
import { splitFour } from '../../planes/write-rows.ts';
import type { SampleBlock } from './to-colours.ts';

/** Where the samples of a band are: `firstSample` of each pixel inside `area`. */
interface BandOfBlock {
  blocks: readonly SampleBlock[];
  area: Rect;
  firstSample: number;
}

/** Memory for separated samples, used again for the next block; a block of more has its own. */
const scratchBytes = 2 ** 22;
let scratch: Uint8Array | undefined;

function takeScratch(bytes: number): Uint8Array {
  if (bytes > scratchBytes) return new Uint8Array(bytes);
  scratch ??= new Uint8Array(scratchBytes);
  return scratch;
}

/**
 * The bands of a block that begin with these samples. The bytes of pixels of four samples are separated at once: a pass
 * over the block for each band takes twice as long. They are valid until the next call.
 */
export function bandsOfBlock(
  blocks: readonly SampleBlock[],
  crop: Rect,
  firstSamples: readonly number[],
): readonly BandOfBlock[] {
  const [{ pixels, samples, width: step }] = blocks as [SampleBlock];
  const isFour = blocks.length === 1 && samples === 4 && pixels instanceof Uint8Array;
  if (!isFour || firstSamples.length === 1)
    return firstSamples.map((firstSample) => ({ blocks, area: crop, firstSample }));
  const { width, height } = crop;
  const planeBytes = width * height;
  const planes = takeScratch(4 * planeBytes);
  for (let row = 0; row < height; row++) {
    splitFour(pixels, ((crop.y + row) * step + crop.x) * 4, planes, row * width, planeBytes, width);
  }
  const area = { x: 0, y: 0, width, height };
  return firstSamples.map((sample) => {
    const plane = planes.subarray(sample * planeBytes, (sample + 1) * planeBytes);
    return { blocks: [{ pixels: plane, samples: 1, width }], area, firstSample: 0 };
  });
}
