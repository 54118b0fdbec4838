import { leaseTo, shareAnew } from './leases.ts';
import type { Turn } from './scheduler-state.ts';
import { setLacked, setShown } from './sights.ts';

export function needShown<A>(turn: Turn<A>, { session, need }: { session: number; need: string }): void {
  const node = turn.state.nodes.get(session);
  if (!node) return;
  setShown(turn, node, need);
  leaseTo(turn, node);
}

export function needLacked<A>(
  turn: Turn<A>,
  { session, need, reason }: { session: number; need: string; reason: string },
): void {
  const node = turn.state.nodes.get(session);
  if (!node) return;
  setLacked(turn, node, need, reason);
  // Others may now have what was left for this one.
  shareAnew(turn);
}
