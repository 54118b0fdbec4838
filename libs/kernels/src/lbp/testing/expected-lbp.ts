// Results of other programs, for tests.

/** What scikit-image's definition makes of an image; its names for parameters, keys and labels. */
export interface ExpectedLbp {
  P: number;
  R: number;
  method: 'default' | 'ror' | 'uniform' | 'nri_uniform' | 'var';
  map_sha256: string;
  /** Counts of labels that occur. */
  histogram: Record<string, number>;
  /** The variances of `var` in rows and columns 0 … 31, null where NaN. */
  crop32: (number | null)[][];
}

/** Codes of the 3x3 square. */
export interface ExpectedSquare {
  bit_order: string;
  border: string;
  map_sha256: string;
  histogram: number[];
}

export interface LbpResults {
  lbp: ExpectedLbp[];
  square_lbp: ExpectedSquare[];
}
