import { join } from 'node:path';

/**
 * The arguments of `halogrid` for `npm start -- ...given`, and notes to print first. They ask for two nodes and, if no
 * source is given, for the samples. The recording among the samples is left out if videos cannot be read, or the kernel
 * needs colour. The given arguments come last, so that they override the others.
 *
 * @param {string[]} given
 * @param {{ folder: string, whyNoVideos?: string }} samples
 */
export function startArguments(given, { folder, whyNoVideos }) {
  const takesValue = (argument) => argument?.startsWith('--') && argument !== '--json' && !argument.includes('=');
  const hasSource = given.some((argument, i) => !argument.startsWith('-') && !takesValue(given[i - 1]));
  const run = ['run', '--nodes', '2'];
  if (hasSource) return { args: [...run, ...given], notes: [] };
  const isColour = given.some((argument) => argument.includes('channels=rgb'));
  const why = whyNoVideos ?? (isColour ? 'videos are read only in gray' : undefined);
  const kinds = why ? ['images', 'frames'] : ['images', 'frames', 'videos'];
  // Cut into tiles and batches, so that a first run shows both.
  const samples = [...kinds.map((kind) => join(folder, kind)), '--tile', '1024', '--map', 'tiff'];
  const notes = why ? [`The recording among the samples is left out: ${why}.`] : [];
  return { args: [...run, ...samples, ...given], notes };
}
