import type { WholeFact } from './fact.ts';
import { foundPart } from './found-part.ts';
import type { JobState } from './job-state.ts';

/** What is to follow the last tile of an image; undefined while tiles are to come, or where the image is not open. */
export function wholeImage(state: JobState, source: number): WholeFact | undefined {
  const image = state.open.get(source);
  if (!image || image.tilesLeft > 0) return undefined;
  const { captured } = image;
  const size = image.size!;
  const parts = image.parts.map(({ counted, bins }, i) => {
    const time = i === 0 && captured ? { captured } : {};
    return foundPart(state.parts[i]!.shape, [{ size, counted, bins: bins.sums, ...time }]);
  });
  // Its pixels were counted tile by tile.
  return { kind: 'whole', source, found: 1, pixels: 0, isTimed: captured !== undefined, parts };
}
