import { hostname } from 'node:os';
import { type GpuPin, requirePlacement, threadsEach } from '@halogrid/gpu-node/gpus';
import { startChild } from './child.ts';
import { nodeArguments } from './node-arguments.ts';
import { superviseNodes } from './supervise-nodes.ts';

/**
 * Runs a node on each GPU, by `args` of the command that asks for them, until they have ended; resolves with the exit code.
 * Once all of them serve and it is proven that none shares its GPU, what they say is the first line of stdout, as JSON.
 */
export function runGpuNodes(
  pins: readonly GpuPin[],
  args: readonly string[],
  { name = hostname(), http }: { name?: string; http?: string },
  signal: AbortSignal,
): Promise<number> {
  const threads = threadsEach(pins.length);
  const onLog = (line: string) => console.error(line);
  return superviseNodes({
    nodes: pins.map((pin, i) => ({ name: `gpu-${pin.index}`, pin, args: nodeArguments(args, pin, i, { name, http }) })),
    start: (node) => startChild(node.args, { prefix: node.pin.prefix, threads, onLog }),
    prove: async (running) => {
      const placements = running.map(({ node, pid }) => ({ busId: node.pin.gpu.busId, pid }));
      for (const line of await requirePlacement(placements)) onLog(line);
    },
    onReady: (reports) => console.log(JSON.stringify(reports.length > 1 ? { nodes: reports } : reports[0])),
    note: onLog,
    signal,
    nowMs: () => performance.now(),
  });
}
