import { Refusal } from '@halogrid/jobs/refusal';
import { PlaceError } from '@halogrid/results/place';

/** Rejects with Refusal if the bucket of an output cannot be read. */
export async function whileReadable<Read>(reading: Promise<Read>): Promise<Read> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof PlaceError)) throw error;
    throw new Refusal('unavailable', `The results cannot be read: ${error.message}`);
  }
}
