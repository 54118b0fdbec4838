/**
 * Milliseconds of processor time that this thread has used since `since` (a result of `process.threadCpuUsage`), or
 * since its start. Other load on the machine hardly changes it.
 */
export function threadMs(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(since);
  return (user + system) / 1000;
}
