/**
 * What may be the bottleneck of a node: a server's answers, files, decoders, the device, the writing of maps; `node`:
 * none of these, while it has shards; `idle`: it has no shards.
 */
export const bindings = ['network', 'read', 'decode', 'device', 'encode', 'node', 'idle'] as const;
export type Binding = (typeof bindings)[number];

/** How many shards or batches are in each stage now. */
export interface UnderWay {
  network: number;
  read: number;
  decode: number;
  /** Batches that were given to the device. */
  device: number;
  encode: number;
  /** Shards that wait for their part to be written. */
  part: number;
  shard: number;
}

/**
 * The bottleneck at a moment, as shares that add up to 1: the device if it has work, otherwise what it waits for. If
 * the device runs on the cores that decode, both share the time by how much of each is under way.
 */
export function bindingNow(now: UnderWay, isDeviceOfCores: boolean): readonly (readonly [Binding, number])[] {
  const { device, decode } = now;
  if (device > 0 && decode > 0 && isDeviceOfCores) {
    const both = device + decode;
    return [
      ['device', device / both],
      ['decode', decode / both],
    ];
  }
  if (device > 0) return always.device;
  if (decode > 0) return always.decode;
  if (now.network > 0) return always.network;
  if (now.read > 0) return always.read;
  if (now.encode + now.part > 0) return always.encode;
  return now.shard > 0 ? always.node : always.idle;
}

const always = Object.fromEntries(bindings.map((binding) => [binding, [[binding, 1]]])) as unknown as Record<
  Binding,
  readonly (readonly [Binding, number])[]
>;
