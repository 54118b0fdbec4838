/** Integers that a predictor is added up in. */
type Integers = Uint8Array | Uint16Array | Uint32Array;

/** Predictor 2: replaces differences by their running sums along each row of `length` samples. */
export function addDifferences(values: Integers, length: number, samples: number): void {
  for (let row = 0; row < values.length; row += length) {
    for (let sample = row; sample < row + samples; sample++) {
      let sum = 0;
      for (let i = sample; i < row + length; i += samples) {
        // The array keeps the lower bits.
        sum = (sum + values[i]!) | 0;
        values[i] = sum;
      }
    }
  }
}

/**
 * Predictor 3: each row has the highest bytes of its `length` samples, then the next ones, down to the lowest, all as
 * differences from the previous pixel. Replaces them by little-endian samples of `size` bytes.
 */
export function joinFloats(bytes: Uint8Array, length: number, samples: number, size: number): void {
  const rowBytes = length * size;
  const row = new Uint8Array(rowBytes);
  for (let start = 0; start < bytes.length; start += rowBytes) {
    row.set(bytes.subarray(start, start + rowBytes));
    for (let i = samples; i < rowBytes; i++) row[i]! += row[i - samples]!;
    for (let i = 0; i < length; i++) {
      for (let byte = 0; byte < size; byte++) bytes[start + i * size + byte] = row[(size - 1 - byte) * length + i]!;
    }
  }
}
