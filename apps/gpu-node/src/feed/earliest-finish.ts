/** Where JPEGs are decoded. */
export type Decoder = 'device' | 'cores';

/** A decoder and its unfinished work. */
export interface DecoderLoad {
  /** Bytes of files that it was given and has not finished. */
  queued: number;
  /** Bytes a second; undefined until it was measured. */
  rate: number | undefined;
}

/**
 * How many times as long as cores the device may take. A frame that cores decode costs the main thread 0.2 ms for
 * opening and placing, and one that the device decodes 0.03 ms (measured). Cores also read for the device, merge and
 * write.
 */
const coresMargin = 3;

/**
 * The decoder that would finish `bytes` more bytes first. Cores are only chosen if they are far faster, because they
 * have other work. A decoder with an unknown rate gets one batch to measure it, and no second one until that is
 * finished.
 */
export function earliestFinish(bytes: number, { device, cores }: Readonly<Record<Decoder, DecoderLoad>>): Decoder {
  if (cores.rate === undefined) return cores.queued === 0 ? 'cores' : 'device';
  if (device.rate === undefined) return device.queued === 0 ? 'device' : 'cores';
  const onDevice = (device.queued + bytes) / device.rate;
  const onCores = (cores.queued + bytes) / cores.rate;
  return onDevice <= coresMargin * onCores ? 'device' : 'cores';
}
