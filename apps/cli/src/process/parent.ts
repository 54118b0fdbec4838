import { isShuttingDown } from '@halogrid/service/shutdown';
import { npxVariable, whenNpxIsGone } from '../../bin/launch.mjs';

/** A process whose parent is gone has this long to end by itself. */
const patienceMs = 5_000;

/**
 * Ends this process as by SIGTERM when its parent is gone, if it has an IPC channel to the parent or is run by npx.
 * With a channel, it is killed a few seconds later.
 */
export function endWithParent(): void {
  const npx = process.env[npxVariable];
  // The children of this process have another parent.
  delete process.env[npxVariable];
  if (npx) whenNpxIsGone(npx, () => isShuttingDown() || process.kill(process.pid, 'SIGTERM'));
  // The parent ended while this process was loading. That event is over, and nothing has started that must end in
  // order.
  if (process.connected === false) process.exit(143);
  if (!process.channel) return;
  process.channel.unref();
  process.once('disconnect', () => {
    setTimeout(() => process.exit(143), patienceMs).unref();
    process.kill(process.pid, 'SIGTERM');
  });
}

/** The value of an option that the parent sends later, so that this process can start meanwhile. */
export const toldByParent = 'told-by-parent';

/**
 * Resolves with the first word that the parent sends. If the parent ends before, so does this process: see
 * endWithParent.
 */
export function wordOfParent(): Promise<string> {
  return new Promise((resolve) => {
    // Nothing else may keep this process alive yet.
    process.channel?.ref();
    process.once('message', (word) => {
      process.channel?.unref();
      resolve(String(word));
    });
  });
}
