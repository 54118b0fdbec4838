import { placeInWords } from '@halogrid/proto';
import type { AwayHost } from '@halogrid/sources';

/** Why a job does not go on: nobody can read from a host or bucket. */
export const awaySentence = (place: string, why: string): string => `The job waits for ${placeInWords(place)}: ${why}`;

/** The same where it is planned. */
export const coordinatorLacks = ({ place, reason }: AwayHost): string =>
  `The coordinator cannot read '${place}': ${reason}`;

/** Why it has failed when it had waited for so long. */
export function stayedAwaySentence(place: string, why: string, graceMs: number): string {
  const remedy = 'once it is back, and answers with the keys that are set, the same command goes on';
  const waited = graceMs > 0 ? `for ${graceMs / 1000} s ` : '';
  return `The job has waited ${waited}(--source-grace) for ${placeInWords(place)}: ${why}; ${remedy}`;
}
