// Part of histograms.ts: reads counts as varints.

/** Decodes two varints of up to four bytes each. Returns two 32-bit integers, the first one in the low half. */
export function both(one: u64, other: u64): u64 {
  const bytes = one | (other << 32);
  const pairs = (bytes & twice(0x7f007f)) | ((bytes >> 1) & twice(0x3f803f80));
  return (pairs & twice(0x3fff)) | ((pairs >> 2) & twice(0xfffc000));
}

/** `bits` in both halves of a word. */
function twice(bits: u64): u64 {
  return (bits << 32) | bits;
}
