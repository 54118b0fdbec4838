/** A card as NVIDIA's driver lists it. */
export interface NvidiaGpu {
  /** Its PCI address, see `parseBusId`. It identifies the card even before the card has a UUID. */
  busId: string;
  /** "GPU-…"; undefined for a card that no process has opened since the driver was loaded. */
  uuid: string | undefined;
  /** e.g. "NVIDIA H200". */
  model: string;
  /** N of /dev/nvidiaN. The driver numbers cards as it finds them, so it may differ from the index of nvidia-smi. */
  minor: number;
}

/** The major number of /dev/nvidiaN. The kernel keeps it for NVIDIA. */
export const nvidiaMajor = 195;
/** Minor numbers from here on are not cards: 254 is /dev/nvidia-modeset, 255 /dev/nvidiactl. */
export const firstOtherMinor = 254;

/** The path of the card's device file. */
export function devicePath({ minor }: Pick<NvidiaGpu, 'minor'>): string {
  return `/dev/nvidia${minor}`;
}

/** Parses /proc/driver/nvidia/gpus/BUS/information; undefined if it does not identify a card and its device file. */
export function parseInformation(text: string): NvidiaGpu | undefined {
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^([^:]+):\s*(.*?)\s*$/.exec(line) ?? [];
    if (name) fields.set(name, value!);
  }
  const busId = parseBusId(fields.get('Bus Location') ?? '');
  const minor = fields.get('Device Minor') ?? '';
  if (!busId || !/^\d+$/.test(minor)) return undefined;
  return {
    busId,
    uuid: parseUuid(fields.get('GPU UUID') ?? ''),
    model: fields.get('Model') ?? '',
    minor: Number(minor),
  };
}

/**
 * A PCI address in one form: domain of four hexadecimal digits, bus, device and function, in lower case, e.g.
 * "0000:0f:00.0". nvidia-smi writes "00000000:0F:00.0". Undefined for anything else.
 */
export function parseBusId(text: string): string | undefined {
  const [, domain, rest] = /^0{0,4}([0-9a-f]{4}):([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$/i.exec(text) ?? [];
  return domain && `${domain}:${rest}`.toLowerCase();
}

/** Until the driver has asked the card for its UUID, it writes question marks. */
export function parseUuid(text: string): string | undefined {
  return /^GPU-[0-9a-f-]+$/i.test(text) ? text : undefined;
}
