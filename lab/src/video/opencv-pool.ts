import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const program = fileURLToPath(new URL('./opencv-pool.py', import.meta.url));

/** Whether python3 has OpenCV and NumPy, as from Debian's package python3-opencv. */
export async function hasOpencv(): Promise<boolean> {
  return await run('python3', ['-c', 'import cv2, numpy']).then(
    () => true,
    () => false,
  );
}

/**
 * Frames a second of a pool of Python processes that read recordings with OpenCV and count their LBP codes with NumPy.
 * Rejects if it fails.
 */
export async function opencvRate(paths: readonly string[], processes: number): Promise<number> {
  const { stdout } = await run('python3', [program, JSON.stringify({ paths, processes })]);
  const { frames, seconds } = JSON.parse(stdout) as { frames: number; seconds: number };
  return frames / seconds;
}
