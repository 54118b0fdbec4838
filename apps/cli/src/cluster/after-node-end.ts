/** Starts of one node, at most, after the first: a node that dies that often will die again. */
export const maxRestarts = 3;

/** What to do about a node that ended though the job goes on. */
export type NodeEndAction = 'restart' | 'go on without it' | 'give up';

/**
 * A node that served is started again, a few times. One that never served would fail again: its device cannot be opened.
 * The job goes on as long as another node lives.
 */
export function afterNodeEnd(node: { hasServed: boolean; restarts: number }, othersAlive: number): NodeEndAction {
  if (node.hasServed && node.restarts < maxRestarts) return 'restart';
  return othersAlive > 0 ? 'go on without it' : 'give up';
}
