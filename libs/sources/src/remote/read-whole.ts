import { takeBytes } from '../byte-pool.ts';
import { InputError } from '../input-error.ts';
import type { HttpAnswer } from './ask.ts';
import type { RemoteLimits } from './remote-limits.ts';
import { SparseCopy } from './sparse-copy.ts';

/** Bytes that are kept in memory of a file that is in a temporary file. */
const headBytes = 2 ** 20;

/** A file that was read from beginning to end. */
export interface WholeFile {
  /** All of the file, or its first 1 MiB if there is a copy. */
  bytes: Buffer<ArrayBuffer>;
  copy: SparseCopy | undefined;
  sizeBytes: number;
}

/** Reads a body of any length, into memory or, if it is long, into a temporary file. */
export async function readWhole(
  { headers, body }: HttpAnswer,
  limits: RemoteLimits,
  wire: { bytes: number },
): Promise<WholeFile> {
  checkLength(Number(headers['content-length'] ?? 0), limits);
  const chunks: Buffer[] = [];
  let copy: SparseCopy | undefined;
  let sizeBytes = 0;
  try {
    for await (const chunk of body) {
      wire.bytes += chunk.length;
      checkLength(sizeBytes + chunk.length, limits);
      if (!copy && sizeBytes + chunk.length > limits.memoryBytes) {
        copy = await SparseCopy.create(0);
        await copy.write(Buffer.concat(chunks.splice(0)), 0);
      }
      if (copy) await copy.write(chunk, sizeBytes);
      else chunks.push(chunk);
      sizeBytes += chunk.length;
    }
    if (sizeBytes === 0) throw new InputError('decode', 'The file is empty (0 bytes)');
    const bytes = takeBytes(copy ? Math.min(sizeBytes, headBytes) : sizeBytes);
    if (copy) await copy.read(bytes, 0);
    else Buffer.concat(chunks).copy(bytes);
    return { bytes, copy, sizeBytes };
  } catch (error) {
    await copy?.close();
    throw error;
  }
}

function checkLength(sizeBytes: number, { wholeBytes }: RemoteLimits): void {
  if (sizeBytes <= wholeBytes) return;
  const limit = `at most ${wholeBytes} bytes are read of a server that cannot send parts of a file`;
  throw new InputError('read', `The file is too long: ${limit}`);
}
