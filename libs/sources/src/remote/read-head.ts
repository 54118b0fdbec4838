import type { HttpAnswer } from './ask.ts';
import { fetchPart, sentOf } from './fetch-part.ts';
import { versionOf } from './file-version.ts';
import { get } from './get.ts';
import { defaultRemoteLimits, type RemoteLimits } from './remote-limits.ts';
import { remoteTarget } from './remote-target.ts';

/** The first `length` bytes of a file on a server, or all of a shorter one. Rejects with InputError. */
export async function readRemoteHead(
  uri: string,
  length: number,
  limits: RemoteLimits = defaultRemoteLimits,
): Promise<Buffer> {
  const target = remoteTarget(uri);
  const { version, bytes, end } = await get(target, { range: `bytes=0-${length - 1}` }, limits, async (answer) => {
    const total = answer.status === 206 ? sentOf(answer, { start: 0, end: length }).total : 0;
    return { version: versionOf(answer), bytes: await startOf(answer, length), end: total && Math.min(total, length) };
  });
  if (end !== undefined && bytes.length >= end) return bytes;
  // The server has sent less than requested. If it does not say how long the file is, the whole file is requested.
  if (end === undefined) return await get(target, {}, limits, (answer) => startOf(answer, length));
  const rest = Buffer.alloc(end - bytes.length);
  await fetchPart({ target, limits, version, wire: { bytes: 0 } }, rest, bytes.length);
  return Buffer.concat([bytes, rest]);
}

/**
 * The first `length` bytes of an answer: a server that cannot send parts sends the whole file, and the rest is not
 * read.
 */
async function startOf({ body }: HttpAnswer, length: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= length) break;
  }
  return Buffer.concat(chunks).subarray(0, length);
}
