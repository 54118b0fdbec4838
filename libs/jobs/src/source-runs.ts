/** Ascending numbers of sources, stored as runs of consecutive numbers. */
export class SourceRuns {
  /** How many sources there are. */
  readonly length: number;
  /** The first number and the length of each run, in turns. */
  readonly runs: Float64Array;

  /** Takes the `runs` of another instance, perhaps from another thread. */
  constructor(runs: Float64Array) {
    let length = 0;
    for (let i = 1; i < runs.length; i += 2) length += runs[i]!;
    this.runs = runs;
    this.length = length;
  }

  static of(sources: Iterable<number>): SourceRuns {
    const runs: number[] = [];
    for (const source of sources) {
      const last = runs.length - 2;
      if (last >= 0 && runs[last]! + runs[last + 1]! === source) runs[last + 1]!++;
      else runs.push(source, 1);
    }
    return new SourceRuns(Float64Array.from(runs));
  }

  /** All numbers, written out. */
  numbers(): Float64Array {
    const numbers = new Float64Array(this.length);
    this.forEach((first, end, row) => {
      for (let source = first; source < end; source++) numbers[row + source - first] = source;
    });
    return numbers;
  }

  /** Calls `tell` with each run: its sources are `first` to `end` - 1, and `row` is the place of `first` among all. */
  forEach(tell: (first: number, end: number, row: number) => void): void {
    for (let i = 0, row = 0; i < this.runs.length; i += 2) {
      const [first, count] = [this.runs[i]!, this.runs[i + 1]!];
      tell(first, first + count, row);
      row += count;
    }
  }
}
