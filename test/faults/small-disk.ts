import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { scratchFolder } from '../scratch-folder.ts';

// A disk of 256 KiB in memory, which jobs fill.

const mountSmall = (folder: string): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'halogrid-test', folder]).status === 0;

/** Makes the disk large enough for any job of a test. */
export const enlarge = (disk: string): void => void spawnSync('mount', ['-o', 'remount,size=64m', disk]);

/** Why this process may not mount a small disk; false if it may. */
export function cannotMount(): string | false {
  const folder = scratchFolder();
  const can = mountSmall(folder);
  if (can) spawnSync('umount', [folder]);
  return can ? false : 'only root may mount a small disk';
}

/** Calls `act` with the folder in which a small disk is mounted meanwhile. */
export async function onSmallDisk(disk: string, act: (disk: string) => Promise<void>): Promise<void> {
  mkdirSync(disk);
  mountSmall(disk);
  try {
    await act(disk);
  } finally {
    spawnSync('umount', ['-l', disk]);
    rmSync(disk, { recursive: true, force: true });
  }
}
