/** Where JPEGs are decoded. */
export type Decoder = 'device' | 'cores';

/** A decoder and what it has to do. */
export interface DecoderLoad {
  /** Bytes of files that it was given and is not done with. */
  queued: number;
  /** Bytes a second; undefined while that was not measured. */
  rate: number | undefined;
}

/**
 * How many times as long as cores the device may take. A frame that cores decode costs 0.2 ms of what opens and places
 * it, and one that the device decodes 0.03 (measured); and cores are also what reads for the device, merges and writes.
 */
const coresMargin = 3;

/**
 * The decoder that is done with `bytes` more first; cores only where they are by far, so that they are there for the
 * rest. One whose rate nobody knows gets a batch to be measured by, and no second one until that is done.
 */
export function earliestFinish(bytes: number, { device, cores }: Readonly<Record<Decoder, DecoderLoad>>): Decoder {
  if (cores.rate === undefined) return cores.queued === 0 ? 'cores' : 'device';
  if (device.rate === undefined) return device.queued === 0 ? 'device' : 'cores';
  const onDevice = (device.queued + bytes) / device.rate;
  const onCores = (cores.queued + bytes) / cores.rate;
  return onDevice <= coresMargin * onCores ? 'device' : 'cores';
}
