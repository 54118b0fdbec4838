import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { HandOverError } from './hand-over-error.ts';

/**
 * Keeps the body of a request as the file `path` below `folder`, whole or not at all. Makes the folders between, but
 * never `folder` itself, which is gone if the job has ended. `isDurable`: the bytes, though not the file's name,
 * survive a failure of the machine. Rejects with HandOverError for more than `mostBytes`, and if the bytes do not have
 * the digest that the request states.
 */
export async function takeFile(
  request: IncomingMessage,
  folder: string,
  path: readonly string[],
  { mostBytes, isDurable = false }: { mostBytes: number; isDurable?: boolean },
): Promise<void> {
  const length = Number(request.headers['content-length'] ?? Number.NaN);
  if (Number.isNaN(length)) throw new HandOverError(411, 'Expected the length of the file');
  if (length > mostBytes) throw new HandOverError(413, `Expected at most ${mostBytes} bytes but received ${length}`);
  const expected = statedDigest(request);
  const file = join(folder, ...path);
  const temporary = `${file}.${randomUUID()}.tmp`;
  for (let depth = 1; depth < path.length; depth++) await makeFolder(join(folder, ...path.slice(0, depth)));
  const digest = createHash('sha256');
  const hashing = new Transform({
    transform(chunk, _encoding, done) {
      digest.update(chunk);
      done(null, chunk);
    },
  });
  try {
    await pipeline(request, hashing, createWriteStream(temporary, { flags: 'wx', flush: isDurable }));
    if (digest.digest('base64') !== expected) throw new HandOverError(400, 'The file is not the one that was sent');
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** SHA-256 of the body, as base64. Throws HandOverError if the request states none. */
export function statedDigest({ headers }: IncomingMessage): string {
  const [, digest] = /^sha-256=:([A-Za-z0-9+/]{43}=):$/.exec(String(headers['content-digest'])) ?? [];
  if (!digest) throw new HandOverError(400, 'Expected Content-Digest: sha-256=:…:');
  return digest;
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}
