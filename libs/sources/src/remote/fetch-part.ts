import type { FileVersion } from '../version-name.ts';
import type { HttpAnswer } from './ask.ts';
import type { ByteRange } from './byte-ranges.ts';
import { checkSameVersion, contentRange, onlyThisVersion } from './file-version.ts';
import { get } from './get.ts';
import type { RemoteLimits } from './remote-limits.ts';
import type { RemoteTarget } from './remote-target.ts';
import { TransferError } from './transfer-error.ts';

/** The most answers for one part: a server may send fewer bytes than requested. */
const mostAnswers = 256;

/** Where a file is read from, and which version of it. */
export interface PartSource {
  target: RemoteTarget;
  limits: RemoteLimits;
  version: FileVersion;
  /** Bytes that came over the network so far. */
  wire: { bytes: number };
}

/**
 * Fills `into` from byte `start` of a file, with several requests if a server sends fewer bytes. Rejects with
 * InputError.
 */
export async function fetchPart(source: PartSource, into: Uint8Array, start: number): Promise<void> {
  const { target, limits, version, wire } = source;
  const end = start + into.length;
  for (let [at, answers] = [start, 0]; at < end; answers++) {
    const part = { start: at, end };
    const headers = { ...onlyThisVersion(version), range: `bytes=${at}-${end - 1}` };
    at = await get(target, headers, limits, async (answer) => {
      checkSameVersion(version, answer);
      if (answer.status === 200) throw new TransferError('The server sends parts of the file no longer');
      const sent = sentOf(answer, part);
      if (answers === mostAnswers) {
        throw new TransferError(`The server sends less than it is asked for, more than ${mostAnswers} times`);
      }
      await fillFromBody(into.subarray(at - start, sent.end - start), answer, wire);
      return sent.end;
    });
  }
}

/** The bytes of `part` that an answer has: its beginning, or all of it. Throws TransferError for any other bytes. */
export function sentOf({ headers }: HttpAnswer, part: ByteRange): ByteRange & { total: number | undefined } {
  const sent = contentRange(headers);
  if (sent.start === part.start && sent.end > sent.start && sent.end <= part.end) return sent;
  throw new TransferError(
    `The server sent bytes ${sent.start} to ${sent.end} of the file where ${part.start} to ${part.end} were asked for`,
  );
}

/** Reads a body that must be exactly as long as `into`. */
export async function fillFromBody(into: Uint8Array, { body }: HttpAnswer, wire: { bytes: number }): Promise<void> {
  let filled = 0;
  for await (const chunk of body) {
    wire.bytes += chunk.length;
    if (filled + chunk.length > into.length) throw new TransferError('The server sends more than it announced');
    into.set(chunk, filled);
    filled += chunk.length;
  }
  if (filled < into.length) {
    throw new TransferError(`The server sent ${filled} of the ${into.length} bytes that it announced`, 'cut');
  }
}
