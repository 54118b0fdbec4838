// For benchmarks: what FFmpeg does by itself, in processes of its own.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import type { ClipOrder } from './process/encode-clip.ts';
import type { PlainOrder } from './process/plain-process.ts';

export type { ClipOrder };

const program = fileURLToPath(new URL('./process/plain-process.ts', import.meta.url));

/** Resolves with what it prints. Rejects where it fails. */
async function runPlain(order: PlainOrder, input: Iterable<Uint8Array> = []): Promise<string> {
  const child = spawn(process.execPath, [program, JSON.stringify(order)], { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  const failed = text(child.stderr);
  // It may end before it has read all.
  const [printed] = await Promise.all([text(child.stdout), pipeline(input, child.stdin).catch(() => {})]);
  if ((await ended) === 0) return printed;
  throw new Error(/^\w*Error: (.*)$/m.exec(await failed)?.[1] ?? 'FFmpeg ended early');
}

/** Makes a recording of frames in planes of YUV 4:2:0, each drawn when it is its turn. Rejects with FFmpeg's reason. */
export async function makeClip(order: ClipOrder, frames: Iterable<Uint8Array>): Promise<void> {
  await runPlain({ kind: 'clip', order }, frames);
}

/**
 * Decodes local videos with FFmpeg as this package has it, in so many processes of one thread, each of which has its share of them, and
 * resolves with the number of frames, of which nothing is kept; with a method of FFmpeg's such as "cuda", in hardware. Rejects with FFmpeg's reason.
 */
export async function decodeByFfmpeg(paths: readonly string[], processes: number, hwaccel = ''): Promise<number> {
  const shares = Array.from({ length: Math.min(processes, paths.length) }, (_, nth) =>
    paths.filter((_path, i) => i % processes === nth),
  );
  const counts = await Promise.all(shares.map((share) => runPlain({ kind: 'null', paths: share, hwaccel })));
  return counts.reduce((sum, count) => sum + Number(count), 0);
}
