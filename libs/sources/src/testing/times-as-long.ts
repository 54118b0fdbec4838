/**
 * How many times as much processor time of this thread `work` takes as `control`, which is done before and after it: other work of the
 * machine hardly changes that.
 */
export function timesAsLong(work: () => void, control: () => void): number {
  const before = threadMicroseconds(control);
  const taken = threadMicroseconds(work);
  return taken / Math.max(before, threadMicroseconds(control));
}

function threadMicroseconds(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}
