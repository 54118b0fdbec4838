const pictureCode = Buffer.from([0, 0, 1, 0xb6]);

/**
 * Whether a packet of MPEG-4 holds two pictures, as old encoders wrote B-frames into AVI: then packets do not tell which
 * frame is whose.
 */
export function isPacked(packet: Buffer | null): boolean {
  const first = packet?.indexOf(pictureCode) ?? -1;
  return first >= 0 && packet!.indexOf(pictureCode, first + pictureCode.length) >= 0;
}
