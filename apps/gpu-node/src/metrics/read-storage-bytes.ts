import { readFileSync } from 'node:fs';

/**
 * Bytes that the system has fetched from disks or network file systems for this process and for the child processes
 * that it waited for, because they were not in the page cache: `read_bytes` of proc_pid_io(5). Undefined if the system
 * does not tell.
 */
export function readStorageBytes(file = '/proc/self/io'): number | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  const [, bytes] = /^read_bytes: (\d+)$/m.exec(text) ?? [];
  return bytes === undefined ? undefined : Number(bytes);
}
