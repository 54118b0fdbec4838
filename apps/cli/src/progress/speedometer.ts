/** Speeds are means over this time: long enough not to jump with every shard, short enough to follow nodes that join. */
const windowMs = 10_000;

export interface Speed {
  pixelsPerSecond: number;
  shardsPerSecond: number;
}

interface Sample {
  ms: number;
  pixels: number;
  shards: number;
}

/** Measures how fast a job goes from how far it is. */
export class Speedometer {
  private samples: Sample[] = [];

  /** Takes how far the job is at `ms` and gives its speed over the last ten seconds; zeros at first. */
  measure(ms: number, pixels: number, shards: number): Speed {
    this.samples.push({ ms, pixels, shards });
    while (this.samples.length > 2 && this.samples[1]!.ms <= ms - windowMs) this.samples.shift();
    const first = this.samples[0]!;
    const seconds = (ms - first.ms) / 1000;
    if (seconds === 0) return { pixelsPerSecond: 0, shardsPerSecond: 0 };
    return {
      pixelsPerSecond: Math.max(0, pixels - first.pixels) / seconds,
      shardsPerSecond: Math.max(0, shards - first.shards) / seconds,
    };
  }
}
