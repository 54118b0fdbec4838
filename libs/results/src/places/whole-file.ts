import type { Place } from './place.ts';

/** All bytes of a small file; undefined if it is missing. Rejects as the place does. */
export async function wholeFile(place: Place): Promise<Buffer | undefined> {
  const file = await place.file();
  return file && (await file.read(0, file.sizeBytes));
}
