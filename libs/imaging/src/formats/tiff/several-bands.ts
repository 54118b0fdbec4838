import { bandsOf, type TiffStorage } from './tiff-layout.ts';

/** Values of ExtraSamples: alpha, premultiplied or not. */
const alphas: readonly number[] = [1, 2];
/** RGB and one more sample: alpha, as many programs write it without saying so. */
const mostOfRgb = 4;

/**
 * Why a page needs a choice of its band: it has several that are no colours. Gray has no other samples but such as
 * ExtraSamples says are alpha; RGB has at most one other sample. Undefined if it needs none.
 */
export function whyChooseBand(
  { photometric, samplesPerPixel: bands }: Pick<TiffStorage, 'photometric' | 'samplesPerPixel'>,
  extraSamples: readonly number[],
): string | undefined {
  const isGray = photometric === 0 || photometric === 1;
  const others = isGray ? bands - 1 : 0;
  const areAlpha = extraSamples.length >= others && extraSamples.every((extra) => alphas.includes(extra));
  if (isGray ? others === 0 || areAlpha : photometric !== 2 || bands <= mostOfRgb) return undefined;
  return `The TIFF has ${bands} bands that are not colours: choose with --band, 1 to ${bands} or all`;
}

/**
 * Says that RGB has a fourth sample that the file does not call alpha and that is not read: near infrared, for example.
 * Undefined if it has none.
 */
export function sayFourthBand(storage: TiffStorage, [extra = 0]: readonly number[]): string | undefined {
  const { photometric, samplesPerPixel } = storage;
  if (photometric !== 2 || samplesPerPixel !== mostOfRgb || alphas.includes(extra)) return undefined;
  const unread = 'a fourth band, which the file does not call alpha, was not read';
  return bandsOf(storage) < mostOfRgb ? unread : `${unread}; --band 4 reads it`;
}
