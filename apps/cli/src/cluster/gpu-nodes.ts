import { hostname } from 'node:os';
import { type GpuPin, requirePlacement, threadsEach } from '@halogrid/gpu-node/gpus';
import { parseAddress } from '@halogrid/service';
import { startChild } from './child.ts';
import { superviseNodes } from './supervise-nodes.ts';

/**
 * Runs a node on each GPU until all have ended; resolves with the exit code. `args`: the arguments of the command that
 * asks for the nodes. Once all nodes serve, and it is proven that each has a GPU of its own, their reports are the
 * first line of stdout, as JSON.
 */
export function runGpuNodes(
  pins: readonly GpuPin[],
  args: readonly string[],
  { name = hostname(), http, until }: OwnOptions,
  signal: AbortSignal,
): Promise<number> {
  const threads = threadsEach(pins.length);
  const onLog = (line: string) => console.error(line);
  return superviseNodes({
    nodes: pins.map((pin, i) => ({
      name: `gpu-${pin.index}`,
      pin,
      args: nodeArguments(args, pin, i, { name, http, until }),
    })),
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

/** Options of the command that the nodes do not share as they were typed. */
const own = ['--gpu', '--name', '--http', '--until'];

interface OwnOptions {
  name?: string;
  http?: string;
  /** In milliseconds since 1970: a node that is restarted must not count a duration again. */
  until?: number;
}

/**
 * The arguments of the node for one GPU, from the arguments of the command that starts a node on each. Nodes share all
 * options but their own. The HTTP port of the `position`-th node is that much above the given port; port 0 stays 0.
 */
export function nodeArguments(
  args: readonly string[],
  { index, gpu }: Pick<GpuPin, 'index' | 'gpu'>,
  position: number,
  { name, http, until }: OwnOptions & { name: string },
): string[] {
  const shared = withoutOptions(args, own);
  return [
    ...shared,
    '--pinned-gpu',
    gpu.busId,
    '--name',
    `${name}-gpu-${index}`,
    ...(http ? httpArguments(http, position) : []),
    ...(until === undefined ? [] : ['--until', new Date(until).toISOString()]),
  ];
}

function httpArguments(http: string, position: number): string[] {
  const { host, port } = parseAddress('--http', http);
  return ['--http', `${host}:${port === 0 ? 0 : port + position}`];
}

/** The arguments without these options and their values, which are written `--name value` or `--name=value`. */
function withoutOptions(args: readonly string[], options: readonly string[]): string[] {
  const isValue = (i: number) => i > 0 && options.includes(args[i - 1]!);
  return args.filter((arg, i) => !isValue(i) && !options.includes(arg.split('=')[0]!));
}
