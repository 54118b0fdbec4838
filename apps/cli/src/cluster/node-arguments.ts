import type { GpuPin } from '@halogrid/gpu-node/gpus';
import { parseAddress } from '@halogrid/service';

/** What is told to each of several nodes of one command in its own words. */
const own = ['--gpu', '--name', '--http'];

/**
 * The arguments of the node for one GPU, from those of the command that starts one for each: what it was told otherwise is
 * told to all. The `position`-th node serves HTTP on the port that many above the one that was given; port 0 stays 0.
 */
export function nodeArguments(
  args: readonly string[],
  { index, gpu }: Pick<GpuPin, 'index' | 'gpu'>,
  position: number,
  { name, http }: { name: string; http?: string },
): string[] {
  const shared = withoutOptions(args, own);
  return [
    ...shared,
    '--pinned-gpu',
    gpu.busId,
    '--name',
    `${name}-gpu-${index}`,
    ...(http ? httpArguments(http, position) : []),
  ];
}

function httpArguments(http: string, position: number): string[] {
  const { host, port } = parseAddress('--http', http);
  return ['--http', `${host}:${port === 0 ? 0 : port + position}`];
}

/** The arguments without these options and their values, `--name value` or `--name=value`. */
function withoutOptions(args: readonly string[], options: readonly string[]): string[] {
  const isValue = (i: number) => i > 0 && options.includes(args[i - 1]!);
  return args.filter((arg, i) => !isValue(i) && !options.includes(arg.split('=')[0]!));
}
