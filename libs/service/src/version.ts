import { readFileSync } from 'node:fs';

/** Version of this software, as in results and metrics; from package.json of the checkout or the package. */
export const softwareVersion: string = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
).version;

/**
 * Version of the results, independent of the software's version: an integer that rises with each change of any digest,
 * for any reason (a kernel, a decoder, which inputs count). A run does not keep earlier results of another version, a
 * job does not continue with them, and nodes of another version are refused, so that all bytes of a job come from one
 * version. Outputs that do not state a version have 1.
 */
export const resultsVersion = 6;

/** Earlier versions that give the same results for images: none, because version 6 does not count NoData of TIFFs. */
const sameOfImages: readonly number[] = [];

/** Whether results of that version may be kept, for images or for frames of recordings. */
export const areSameResults = (version: number, isOfRecording: boolean): boolean =>
  version === resultsVersion || (!isOfRecording && sameOfImages.includes(version));

/**
 * One sentence for people that says why no results of an output with that version are kept. `now` is the version of the
 * new results.
 */
export const otherResultsSentence = (version: number, now = resultsVersion): string =>
  `The earlier output was made by results version ${version}; this is ${now}: everything is computed again`;
