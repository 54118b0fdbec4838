import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Seed } from './seed-images.ts';

const cases = new URL('../../libs/imaging/fixtures/tiff-cases.json.gz', import.meta.url);

/** TIFFs with every supported way to store pixels. */
export function makeSeedTiffs(): Seed[] {
  const made: { case: { photometric: number; subsampling: string; extra: string }; tiff: string }[] = JSON.parse(
    gunzipSync(readFileSync(cases)).toString(),
  );
  const whole = made.filter(({ case: { photometric, extra } }) => !needsBand(photometric, extra));
  return whole.map(({ case: { photometric, subsampling }, tiff }, number) => ({
    name: `${number}-${photometric === 6 ? `ycbcr-${subsampling}` : 'tags'}.tif`,
    bytes: Buffer.from(tiff, 'base64'),
  }));
}

/** Whether such a file is read only if a band is chosen: gray with samples besides alpha, or colours with six more. */
const needsBand = (photometric: number, extra: string): boolean =>
  photometric < 2 ? ['unstated', 'unspecified', 'six'].includes(extra) : photometric === 2 && extra === 'six';

/**
 * Whether GDAL with libtiff 4.5 misreads the file: it silently loses bytes of subsampled YCbCr if the image ends within
 * a unit of chroma.
 */
export const isMisread = (name: string): boolean => /ycbcr-(?!1x1)/.test(name);
