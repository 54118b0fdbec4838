/**
 * A copy of a Parquet file with changed bits and bytes, half of them in the footer; of some files, it also removes or
 * repeats bytes.
 */
export function mutate(seed: Buffer, random: (below: number) => number): Buffer {
  const bytes = Buffer.from(seed);
  const footer = Math.max(0, bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8));
  for (let changes = 1 + random(4); changes > 0; changes--) {
    const at = random(2) ? footer + random(bytes.length - footer) : random(bytes.length);
    if (random(3)) bytes[at]! ^= 1 << random(8);
    else bytes[at] = [0, 0x7f, 0x80, 0xff, random(256)][random(5)]!;
  }
  if (random(8)) return bytes;
  const [from, to] = [random(bytes.length), random(bytes.length)];
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
}
