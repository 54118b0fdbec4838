import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** Times of another program. */
export interface PeerTime {
  name: string;
  /** The searched rows. */
  rows: number;
  /** For one query, of each repetition. */
  seconds: number[];
}

export interface PeerSearch {
  /** Counts as uint32, row by row. */
  file: string;
  rows: number;
  /** Counts of a row. */
  length: number;
  /** Numbers of the rows that are queries: the first alone, and all at once. */
  queries: readonly number[];
  repetitions: number;
}

/**
 * Has Python search the same counts with NumPy, FAISS and PyTorch, if they are installed. Without Python the result is
 * empty.
 */
export async function measurePeers(search: PeerSearch): Promise<PeerTime[]> {
  const child = spawn('python3', [fileURLToPath(new URL('./peers.py', import.meta.url)), JSON.stringify(search)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const isMissing = new Promise<string>((resolve) => child.once('error', () => resolve('')));
  const lines = await Promise.race([text(child.stdout), isMissing]);
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
