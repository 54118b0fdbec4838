import type { Duplex } from 'node:stream';
import type { VideoFile } from './video-file.ts';

/**
 * The protocol at the socket between a process that reads a video and the one that fetches it. A request is three
 * doubles: the position, the number of bytes, and 1 if nothing near them is wanted. An answer is a double, the number
 * of bytes that follow: fewer than asked for, or none, at the end.
 */
export const requestBytes = 24;
export const answerHeadBytes = 8;

/**
 * Answers requests until the other side ends. If a read fails, `fail` is called and no answer is sent: FFmpeg would
 * take one for the end of the file. Requests are answered one at a time, so only one answer is in memory.
 */
export async function serveRanges(
  socket: Duplex,
  read: VideoFile['read'],
  fail: (error: unknown) => void,
): Promise<void> {
  let asked: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of socket) {
      asked = Buffer.concat([asked, chunk]);
      for (; asked.length >= requestBytes; asked = asked.subarray(requestBytes)) {
        let bytes: Uint8Array;
        try {
          bytes = await read(asked.readDoubleLE(0), asked.readDoubleLE(8), asked.readDoubleLE(16) === 1);
        } catch (error) {
          return fail(error);
        }
        const head = Buffer.alloc(answerHeadBytes);
        head.writeDoubleLE(bytes.length);
        socket.write(head);
        socket.write(bytes);
      }
    }
  } catch {
    // The other side has ended, whatever it was doing.
  }
}
