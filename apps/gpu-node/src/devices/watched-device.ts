import { type BatchResult, type DeviceKind, DeviceLostError, type NodeDevice } from './device.ts';
import { deviceOver } from './device-over.ts';

/**
 * A device that gives no batch back for this long has hung. A GPU takes seconds for the largest batch of the slowest
 * kernel. On CPU cores that other programs use as well it may take many minutes, and there is no driver that could
 * hang.
 */
export const hangMs: Record<DeviceKind, number> = { gpu: 120_000, software: 1_800_000, cpu: 1_800_000 };

/** Calls `task` after `ms`, unless the returned function is called before. */
export type Timer = (ms: number, task: () => void) => () => void;

/**
 * The same device, which also counts as lost if it hangs: if it has batches and gives none back for `ms`. Its batches
 * then reject with DeviceLostError. The caller that hears of the loss must close the device.
 */
export function withWatch(device: NodeDevice, ms: number, timer: Timer = systemTimer): NodeDevice {
  const running = new Set<(error: Error) => void>();
  const hung = Promise.withResolvers<string>();
  let stop = (): void => {};
  /** Gives the device `ms` from now for the next batch. */
  const watch = (): void => {
    stop();
    if (running.size > 0) stop = timer(ms, giveUp);
  };
  function giveUp(): void {
    const reason = `it has given no batch back for ${ms / 1000} s`;
    hung.resolve(reason);
    for (const reject of running) reject(new DeviceLostError(reason));
    running.clear();
  }
  return deviceOver(device, {
    lost: Promise.race([device.lost, hung.promise]),
    close: () => {
      stop();
      return device.close();
    },
    run: (...batch) => {
      const result = Promise.withResolvers<BatchResult>();
      running.add(result.reject);
      if (running.size === 1) watch();
      device
        .run(...batch)
        .then(result.resolve, result.reject)
        .finally(() => {
          if (running.delete(result.reject)) watch();
        });
      return result.promise;
    },
  });
}

function systemTimer(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms);
  return () => clearTimeout(timer);
}
