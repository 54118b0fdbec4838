/**
 * A JP2 with this codestream, whose channels are the chosen components. The binding of OpenJPEG gives out images of one
 * or three components alone. The map of channels (cmap) leaves components out; it needs a palette, whose only use is
 * the depth of samples.
 */
export function selectComponents(
  codestream: Buffer,
  { width, height, bits, components }: { width: number; height: number; bits: number; components: number },
  chosen: readonly number[],
): Buffer {
  const header = Buffer.alloc(14);
  header.writeUInt32BE(height, 0);
  header.writeUInt32BE(width, 4);
  header.writeUInt16BE(components, 8);
  header[10] = bits - 1;
  header[11] = 7;
  const palette = Buffer.alloc(3 + chosen.length * (bits > 8 ? 3 : 2));
  palette[1] = 1;
  palette[2] = chosen.length;
  palette.fill(bits - 1, 3, 3 + chosen.length);
  const map = Buffer.alloc(4 * chosen.length);
  for (const [i, component] of chosen.entries()) map.writeUInt16BE(component, 4 * i);
  const rgb = Buffer.from([1, 0, 0, 0, 0, 0, 16]);
  return Buffer.concat([
    box('jP  ', Buffer.from('\r\n\x87\n', 'latin1')),
    box('ftyp', Buffer.from('jp2 \0\0\0\0jp2 ', 'latin1')),
    box('jp2h', box('ihdr', header), box('colr', rgb), box('pclr', palette), box('cmap', map)),
    box('jp2c', codestream),
  ]);
}

function box(kind: string, ...contents: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(contents.reduce((sum, { length }) => sum + length, 8));
  head.write(kind, 4, 'latin1');
  return Buffer.concat([head, ...contents]);
}
