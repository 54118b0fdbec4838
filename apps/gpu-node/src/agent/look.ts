import { Cause, type Probe, type SeenFile, type Sight } from '@halogrid/proto';
import { tryWrite } from '@halogrid/results';
import { InputError, showFile } from '@halogrid/sources';
import { causes } from '../executor/causes.ts';

/** Looks at the files of a probe, and tries to write to its folder. Never rejects. */
export async function look({ probe, files, write }: Probe): Promise<Sight> {
  const seen = await Promise.all(files.map(({ uri, whole }) => seeFile(uri, whole)));
  return { probe, files: seen, error: write === '' ? '' : await whyNotWritten(write) };
}

async function seeFile(uri: string, isWhole: boolean): Promise<SeenFile> {
  try {
    const { version, sha256 } = await showFile(uri, isWhole);
    return { version, sha256: Buffer.from(sha256), error: '', cause: Cause.UNSPECIFIED };
  } catch (error) {
    const sentence = error instanceof InputError ? error.message : `The file cannot be read: ${messageOf(error)}`;
    const cause = error instanceof InputError ? causes[error.fault] : Cause.ACCESS;
    return { version: '', sha256: Buffer.alloc(0), error: sentence, cause };
  }
}

const whyNotWritten = (folder: string): Promise<string> =>
  tryWrite(folder).then(
    () => '',
    (error) => messageOf(error),
  );

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
