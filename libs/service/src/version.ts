import { readFileSync } from 'node:fs';

/** Version of this software, as results and metrics carry it: that of the checkout, or of the package. */
export const softwareVersion: string = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
).version;

/**
 * Version of the results, whatever that of the software is: an integer that rises with each change of any digest, for
 * whatever reason (a kernel, a decoder, which inputs count). Results of another version are not kept by a run that
 * follows in their folder, no job goes on with them, and nodes of another version are refused: the bytes of a job come
 * of one version. Outputs that do not say theirs have 1.
 */
export const resultsVersion = 5;

/**
 * Earlier versions whose results of images equal those of this version: none, because version 5 has changed how TIFF is
 * read.
 */
const sameOfImages: readonly number[] = [];

/** Whether results of that version may be kept, of images or of frames of recordings. */
export const areSameResults = (version: number, isOfRecording: boolean): boolean =>
  version === resultsVersion || (!isOfRecording && sameOfImages.includes(version));

/**
 * One sentence for people: why nothing is kept of an output with results of that version. `now` is that of those that
 * follow.
 */
export const otherResultsSentence = (version: number, now = resultsVersion): string =>
  `The earlier output was made by results version ${version}; this is ${now}: everything is computed again`;
