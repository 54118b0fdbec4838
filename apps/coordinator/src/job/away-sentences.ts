import { placeInWords } from '@halogrid/proto';
import type { AwayHost } from '@halogrid/sources';

/** What a job says while nobody can read from a host or bucket. */
export const waitsForHost = (place: string, why: string): string => `It waits for ${placeInWords(place)}: ${why}`;

/** Why a job that has waited for so long does so no longer, and what to do. */
export function hostStaysAway(place: string, why: string, waitedMs: number): string {
  const forLong = waitedMs >= 1000 ? ` for ${Math.round(waitedMs / 1000)} s` : '';
  const where = placeInWords(place);
  return (
    `The ${where} was away${forLong} (--source-grace): ${why}; see to it, and to the keys that it asks for, and run the same command ` +
    'again, which goes on from here'
  );
}

/** Why a job is not planned further, whose coordinator cannot read from there. */
export const coordinatorLacks = ({ place, reason }: AwayHost): string =>
  `The coordinator cannot read '${place}': ${reason}`;
