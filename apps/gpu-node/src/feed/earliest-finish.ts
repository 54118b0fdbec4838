export const decoders = ['device', 'cores'] as const;
/** Where JPEGs are decoded. */
export type Decoder = (typeof decoders)[number];

/** A decoder and what it has to do. */
export interface DecoderLoad {
  /** Bytes of files that it was given and is not done with. */
  queued: number;
  /** Bytes a second; undefined while that was not measured. */
  rate: number | undefined;
}

/**
 * The decoder that is done with `bytes` more first. One whose rate nobody knows gets a batch to be measured by, and no second one
 * until that is done.
 */
export function earliestFinish(bytes: number, { device, cores }: Readonly<Record<Decoder, DecoderLoad>>): Decoder {
  if (cores.rate === undefined) return cores.queued === 0 ? 'cores' : 'device';
  if (device.rate === undefined) return device.queued === 0 ? 'device' : 'cores';
  return (device.queued + bytes) / device.rate <= (cores.queued + bytes) / cores.rate ? 'device' : 'cores';
}
