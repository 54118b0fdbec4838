import type { default as Sharp } from 'sharp';

let loaded: Promise<typeof Sharp> | undefined;

/**
 * Loads sharp when the first file needs it: its modules and libvips take 40 ms of a start (measured), and JPEG, PGM and
 * video do not need them.
 */
export function loadSharp(): Promise<typeof Sharp> {
  loaded ??= import('sharp').then(({ default: sharp }) => {
    // A cache is useless, because nothing is asked for twice. Images in flight, not threads within one, keep the cores
    // busy.
    sharp.cache(false);
    sharp.concurrency(1);
    return sharp;
  });
  return loaded;
}
