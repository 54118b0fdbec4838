/** Resources of a process at the end of a round. */
export interface Usage {
  round: number;
  bytes: number;
  descriptors: number;
}

/** Rounds in which a process warms up. They are not counted, because code is still being compiled and kept. */
const warmUpRounds = 3;
/** With fewer rounds there is no result. */
const leastRounds = 8;
/** Allowed growth: a heap that is not collected yet, and sockets that are not closed yet. */
const allowedBytes = 80e6;
const allowedDescriptors = 12;

/** The growing resources of a process, in words; undefined if none grows, or its life was too short. */
export function growthOf(life: readonly Usage[]): string | undefined {
  const warm = life.slice(warmUpRounds);
  if (warm.length < leastRounds) return undefined;
  const found = [
    grown(
      warm.map(({ bytes }) => bytes),
      allowedBytes,
      (bytes) => `${(bytes / 1e6).toFixed(1)} MB`,
    ),
    grown(
      warm.map(({ descriptors }) => descriptors),
      allowedDescriptors,
      (count) => `${count.toFixed(1)} descriptors`,
    ),
  ];
  return found.filter(Boolean).join(' and ') || undefined;
}

/**
 * Growth means that both the line through all values, and the medians from the first to the last third, rise by more
 * than is allowed.
 */
function grown(values: readonly number[], allowed: number, tell: (value: number) => string): string | undefined {
  const perRound = slope(values);
  const third = Math.floor(values.length / 3);
  const rise = median(values.slice(-third)) - median(values.slice(0, third));
  if (perRound * values.length < allowed || rise < allowed) return undefined;
  return `${tell(perRound)} a round`;
}

/** The slope of the least-squares line per value. */
export function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const above = values.reduce((sum, value, i) => sum + (i - middle) * (value - mean), 0);
  const below = values.reduce((sum, _, i) => sum + (i - middle) ** 2, 0);
  return below === 0 ? 0 : above / below;
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;
