import { isShuttingDown } from '@halogrid/service/shutdown';
import { npxVariable, whenNpxIsGone } from '../../bin/launch.mjs';

/** A process whose parent is gone gets this long to leave by itself. */
const patienceMs = 5_000;

/**
 * Ends this process when its parent is gone for any reason, if it has an IPC channel to the parent or is run by npx. It
 * ends as by SIGTERM; with a channel, it is killed a few seconds later.
 */
export function endWithParent(): void {
  const npx = process.env[npxVariable];
  // The children of this process have another parent.
  delete process.env[npxVariable];
  if (npx) whenNpxIsGone(npx, () => isShuttingDown() || process.kill(process.pid, 'SIGTERM'));
  // It went while this process was loading what it runs: the event is over, and nothing has begun that would need an
  // order.
  if (process.connected === false) process.exit(143);
  if (!process.channel) return;
  process.channel.unref();
  process.once('disconnect', () => {
    setTimeout(() => process.exit(143), patienceMs).unref();
    process.kill(process.pid, 'SIGTERM');
  });
}

/** Stands for an option that the parent tells when it knows it, so that this process can start meanwhile. */
export const toldByParent = 'told-by-parent';

/** The first word that the parent tells. Where the parent ends before, so does this process: see endWithParent. */
export function wordOfParent(): Promise<string> {
  return new Promise((resolve) => {
    // There may be nothing else yet that keeps this process.
    process.channel?.ref();
    process.once('message', (word) => {
      process.channel?.unref();
      resolve(String(word));
    });
  });
}
