import { readSlide } from './slide-readers.ts';

/** The version and the file of the OpenSlide that is installed. Rejects with MissingDecoderError if none is. */
export function openSlideVersion(): Promise<{ version: string; library: string }> {
  return readSlide('', async (reader) => {
    const { answer } = await reader.order({ kind: 'version' });
    if (answer.kind !== 'version') throw new Error(`The reader of slides gave '${answer.kind}' for its version`);
    return answer;
  });
}
