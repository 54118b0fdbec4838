import { setTimeout as delay } from 'node:timers/promises';
import { coordinatorLack, hostStaysAway } from '@halogrid/jobs/away-sentences';
import type { PlannedStep } from '@halogrid/jobs/shard';
import { WantError } from '@halogrid/jobs/want-error';
import { type AwayHost, AwayHosts, withPatience } from '@halogrid/sources';

/**
 * The same plan, except that it waits for hosts that are away instead of quarantining their inputs. Steps say which
 * host it waits for. Rejects with WantError if a host stays away for longer than `graceMs`, and with the signal's
 * reason when the signal aborts.
 */
export async function* planPatiently(
  plan: AsyncGenerator<PlannedStep[], void, undefined>,
  graceMs: number,
  signal?: AbortSignal,
): AsyncGenerator<PlannedStep[], void, undefined> {
  const news: (AwayHost | undefined)[] = [];
  let interrupt = (): void => {};
  const hosts = new AwayHosts({
    graceMs,
    nowMs: () => performance.now(),
    pause: (ms) => delay(ms, undefined, signal && { signal }).finally(() => signal?.throwIfAborted()),
    tell: (away) => {
      news.push(away);
      interrupt();
    },
    giveUp: (away) => new WantError(hostStaysAway(coordinatorLack(away), graceMs)),
  });
  const steps = withPatience(hosts, plan);
  let next = steps.next();
  try {
    for (;;) {
      const step = await new Promise<Awaited<typeof next> | undefined>((resolve, reject) => {
        interrupt = () => resolve(undefined);
        if (news.length > 0) interrupt();
        next.then(resolve, reject);
      });
      for (const away of news.splice(0)) yield [{ kind: 'waits', away }];
      if (!step) continue;
      if (step.done) return;
      next = steps.next();
      yield step.value;
    }
  } finally {
    // A later rejection has no other handler.
    next.catch(() => {});
    void steps.return();
  }
}
