const startOfImage = Buffer.from([0xff, 0xd8, 0xff]);
const markers = { endOfImage: 0xd9, startOfScan: 0xda, firstRestart: 0xd0, lastRestart: 0xd7 } as const;

/** Whether another JPEG follows the first of a packet, as the second field of an interlaced picture does. */
export function hasTwoJpegs(packet: Buffer): boolean {
  for (let at = 2; at + 4 <= packet.length && packet[at] === 0xff; ) {
    const marker = packet[at + 1]!;
    if (marker === markers.endOfImage) return packet.indexOf(startOfImage, at + 2) >= 0;
    // Any number of fill bytes may stand before a marker.
    if (marker === 0xff) at++;
    else {
      at += 2 + packet.readUInt16BE(at + 2);
      if (marker === markers.startOfScan) at = endOfScan(packet, at);
    }
  }
  return false;
}

/** The position of the first marker that ends a scan. */
function endOfScan(packet: Buffer, from: number): number {
  for (let at = packet.indexOf(0xff, from); at >= 0; at = packet.indexOf(0xff, at + 1)) {
    const next = packet[at + 1] ?? 0;
    const isRestart = next >= markers.firstRestart && next <= markers.lastRestart;
    if (next !== 0 && next !== 0xff && !isRestart) return at;
  }
  return packet.length;
}
