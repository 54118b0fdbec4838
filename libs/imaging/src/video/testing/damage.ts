// For tests: damaged files; equal seeds give equal damage.

/** Whole numbers below a limit, at random by a seed: the linear congruential generator of Numerical Recipes. */
export function randomOf(seed: number): (below: number) => number {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Damage = (bytes: Buffer, random: (below: number) => number) => Buffer;

const damages: Damage[] = [
  flipBits,
  zero,
  zeroAtMark,
  cutOff,
  remove,
  insert,
  copyFromElsewhere,
  setNumber,
  setNumberAtMark,
];

/** Names of parts of files: of AVI, of MP4, of Matroska (its clusters, blocks and cues), and of MPEG-TS (packets). */
const marks = [
  ...['00dc', '01wb', 'idx1', 'strh', 'strf', 'LIST', 'JUNK'],
  ...['moov', 'moof', 'trun', 'stsz', 'stco', 'stsc', 'stts', 'ctts', 'elst', 'mdat', 'avcC'],
  ...['\x1f\x43\xb6\x75', '\xa3', '\xe7', '\x1c\x53\xbb\x6b', '\x47\x41\x00', '\x47\x01\x00', '\x00\x00\x01'],
].map((text) => Buffer.from(text, 'latin1'));

/** A copy of a file with one to three pieces of damage. */
export function damaged(file: Buffer, seed: number): Buffer {
  const random = randomOf(seed);
  let bytes: Buffer = Buffer.from(file);
  for (let left = 1 + random(3); left > 0 && bytes.length > 16; left--) {
    bytes = damages[random(damages.length)]!(bytes, random);
  }
  return bytes;
}

function flipBits(bytes: Buffer, random: (below: number) => number): Buffer {
  for (let left = [1, 4, 20][random(3)]!; left > 0; left--) {
    const at = random(bytes.length);
    bytes[at] = bytes[at]! ^ (1 << random(8));
  }
  return bytes;
}

function zero(bytes: Buffer, random: (below: number) => number): Buffer {
  const from = random(bytes.length);
  return bytes.fill(0, from, Math.min(bytes.length, from + [1, 8, 188, 2000][random(4)]!));
}

/** A random place where one of these names stands in the file. */
function atMark(bytes: Buffer, random: (below: number) => number): number {
  const first = random(marks.length);
  for (let i = 0; i < marks.length; i++) {
    const mark = marks[(first + i) % marks.length]!;
    const from = random(bytes.length);
    const at = bytes.indexOf(mark, from);
    const found = at >= 0 ? at : bytes.indexOf(mark);
    if (found >= 0) return found;
  }
  return random(bytes.length);
}

function zeroAtMark(bytes: Buffer, random: (below: number) => number): Buffer {
  const at = atMark(bytes, random);
  return bytes.fill(0, at, Math.min(bytes.length, at + 8));
}

function cutOff(bytes: Buffer, random: (below: number) => number): Buffer {
  return bytes.subarray(0, Math.floor(bytes.length / 2) + random(bytes.length / 2));
}

function remove(bytes: Buffer, random: (below: number) => number): Buffer {
  const from = random(bytes.length);
  const length = [1, 16, 188, 1000][random(4)]!;
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + length)]);
}

function insert(bytes: Buffer, random: (below: number) => number): Buffer {
  const at = random(bytes.length);
  const more = Buffer.from(Array.from({ length: [1, 4, 188, 1000][random(4)]! }, () => random(256)));
  return Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]);
}

function copyFromElsewhere(bytes: Buffer, random: (below: number) => number): Buffer {
  const from = random(bytes.length);
  const part = Buffer.from(bytes.subarray(from, from + [16, 188, 2000][random(3)]!));
  part.copy(bytes, random(bytes.length));
  return bytes;
}

/** Numbers that are unlikely as counts, lengths and offsets. */
function oddNumber(bytes: Buffer, random: (below: number) => number): number {
  return [0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 16, bytes.length, random(bytes.length), random(2 ** 32)][random(8)]!;
}

function setNumber(bytes: Buffer, random: (below: number) => number): Buffer {
  bytes.writeUInt32BE(oddNumber(bytes, random), random(bytes.length - 4));
  return bytes;
}

/** Sets a number behind a name, as in AVI, before it, as in MP4, or some way behind it, in a table. */
function setNumberAtMark(bytes: Buffer, random: (below: number) => number): Buffer {
  const at = atMark(bytes, random) + [-4, 4, 8, 12, 16, 20, 4 * random(200)][random(7)]!;
  const number = oddNumber(bytes, random);
  const place = Math.max(0, Math.min(bytes.length - 4, at));
  if (random(2)) bytes.writeUInt32LE(number, place);
  else bytes.writeUInt32BE(number, place);
  return bytes;
}
