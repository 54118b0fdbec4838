import { pause } from '@halogrid/testing';

/** Looks every now and then until `running` is over, and resolves as it does. */
export async function lookWhile<T>(running: Promise<T>, look: () => void): Promise<T> {
  const isOver = running.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([isOver, pause(50)]))) look();
  return running;
}
