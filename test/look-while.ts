import { pause } from '@halogrid/testing';

/** Calls `look` again and again until `running` settles, and settles like it. */
export async function lookWhile<T>(running: Promise<T>, look: () => void): Promise<T> {
  const isOver = running.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([isOver, pause(50)]))) look();
  return running;
}
