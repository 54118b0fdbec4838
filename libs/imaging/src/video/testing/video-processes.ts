import { readFileSync } from 'node:fs';

/**
 * The ids of the processes that decode videos for this one, in the order in which they were started. Other decoders
 * have processes, too.
 */
export function videoProcesses(): number[] {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8');
  return children.trim().split(' ').filter(Boolean).map(Number).filter(decodesVideo);
}

/** A function for those that are started after this call. */
export function newVideoProcesses(): () => number[] {
  const before = new Set(videoProcesses());
  return () => videoProcesses().filter((pid) => !before.has(pid));
}

function decodesVideo(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('video-process');
  } catch {
    // It has ended meanwhile.
    return false;
  }
}
