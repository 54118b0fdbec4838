/**
 * Milliseconds of processor time that this thread has taken since `since`, an answer of `process.threadCpuUsage`, or
 * since its start. Other work of the machine hardly makes them more.
 */
export function threadMs(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(since);
  return (user + system) / 1000;
}
