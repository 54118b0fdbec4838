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
 * How many times as long as cores the device may take. What cores decode costs the main thread 0.2 ms a frame, and what the device
 * decodes 0.03 (measured); and cores are what reads for the device, merges and writes.
 */
const coresMargin = 3;

/**
 * The decoder that is done with `bytes` more first; cores only where they are by far, so that they are there for the rest. One whose rate nobody knows gets a batch to be measured by, and no second one
 * until that is done.
 */
export function earliestFinish(bytes: number, { device, cores }: Readonly<Record<Decoder, DecoderLoad>>): Decoder {
  if (cores.rate === undefined) return cores.queued === 0 ? 'cores' : 'device';
  if (device.rate === undefined) return device.queued === 0 ? 'device' : 'cores';
  const onDevice = (device.queued + bytes) / device.rate;
  const onCores = (cores.queued + bytes) / cores.rate;
  return onDevice <= coresMargin * onCores ? 'device' : 'cores';
}
