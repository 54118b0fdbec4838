/** Milliseconds of processor time that this thread takes for something, which other work of the machine hardly makes longer. */
export function threadMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
