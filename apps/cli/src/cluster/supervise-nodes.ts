import { aborted } from '@halogrid/service';
import { exitCodes } from '../process/exit-code.ts';
import { afterNodeEnd, type Child, describeEnding, type Ending, whyEnded } from './child.ts';

export interface SupervisorOptions<Node extends { name: string }> {
  nodes: readonly Node[];
  start: (node: Node) => Child;
  /** Rejects with one sentence if a process does not use its own GPU. */
  prove: (running: { node: Node; pid: number }[]) => Promise<void>;
  /** Called with the reports of all nodes once all of them serve and are proven. */
  onReady: (reports: Record<string, unknown>[]) => void;
  /** Called with what happens to nodes, in lines for people. */
  note: (line: string) => void;
  /** When it aborts, the nodes finish their shards and end. */
  signal: AbortSignal;
  nowMs: () => number;
}

/** A node that ran for this long did not die of its start, so its restarts are counted from 0 again. */
const steadyMs = 10 * 60_000;

/**
 * Keeps nodes running, each in its own process, until they end in order, by the signal or by their coordinator.
 * Resolves with the exit code: 0 or `requeue` if all ended in order, otherwise 1. A node that dies is restarted a few
 * times: see `afterNodeEnd`. If not all of them start and are proven, stops them all and rejects with one sentence.
 */
export async function superviseNodes<Node extends { name: string }>(options: SupervisorOptions<Node>): Promise<number> {
  const { nodes, start, prove, onReady, note, signal, nowMs } = options;
  const alive = new Map<Node, Child>();
  const launch = (node: Node): Child => {
    const child = start(node);
    alive.set(node, child);
    void child.ended.then(() => alive.delete(node));
    return child;
  };
  const proveAll = () => prove([...alive].map(([node, { pid }]) => ({ node, pid })));
  const isOrderly = ({ code, signal: by }: Ending) =>
    code === exitCodes.complete || code === exitCodes.requeue || (signal.aborted && by === 'SIGTERM');
  const codeOf = (ending: Ending) => (isOrderly(ending) ? (ending.code ?? exitCodes.complete) : exitCodes.failed);

  const keep = async (node: Node, first: Child): Promise<number> => {
    let child = first;
    let hasServed = true;
    let restarts = 0;
    for (;;) {
      const startedMs = nowMs();
      const ending = await child.ended;
      if (isOrderly(ending) || signal.aborted) return codeOf(ending);
      if (nowMs() - startedMs > steadyMs) restarts = 0;
      const willRestart = afterNodeEnd({ hasServed, restarts }, alive.size) === 'restart';
      note(
        `Node ${node.name} ${describeEnding(ending)}${willRestart ? ': it is restarted' : ' and is not restarted'}.`,
      );
      if (!willRestart) return exitCodes.failed;
      restarts++;
      child = launch(node);
      hasServed = (await child.ready) !== undefined;
      if (hasServed) await proveAll().catch((error) => refuse(node, child, error));
    }
  };
  const refuse = async (node: Node, child: Child, error: Error): Promise<void> => {
    // The node has died meanwhile, and its end tells why.
    if (alive.get(node) !== child || signal.aborted) return;
    note(`Node ${node.name} is stopped: ${error.message}`);
    await child.stop();
  };

  const children = nodes.map(launch);
  void aborted(signal).then(() => {
    for (const child of alive.values()) child.drain();
  });
  try {
    const reports = await Promise.all(children.map((child) => child.ready));
    const failed = children.find((_, i) => !reports[i]);
    if (failed && !signal.aborted) throw await whyEnded(`Node ${nodes[children.indexOf(failed)]!.name}`, failed);
    if (!signal.aborted) await proveAll();
    if (!signal.aborted) onReady(reports as Record<string, unknown>[]);
  } catch (error) {
    if (!signal.aborted) {
      await Promise.all([...alive.values()].map((child) => child.stop()));
      throw error;
    }
  }
  const codes = await Promise.all(children.map((child, i) => keep(nodes[i]!, child)));
  const worst = [exitCodes.failed, exitCodes.requeue].find((code) => codes.includes(code));
  return worst ?? exitCodes.complete;
}
