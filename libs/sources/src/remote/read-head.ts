import { get } from './get.ts';
import { defaultRemoteLimits, type RemoteLimits } from './remote-limits.ts';
import { remoteTarget } from './remote-target.ts';

/** The first `length` bytes of a file on a server, or all of a shorter one. Rejects with InputError. */
export async function readRemoteHead(
  uri: string,
  length: number,
  limits: RemoteLimits = defaultRemoteLimits,
): Promise<Buffer> {
  return await get(remoteTarget(uri), { range: `bytes=0-${length - 1}` }, limits, async ({ body }) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      // A server that cannot send parts sends all of it.
      if (bytes >= length) break;
    }
    return Buffer.concat(chunks).subarray(0, length);
  });
}
