// What hardware says of pictures, and what is easily seen of packets, decides which frames are given out. The hardware
// is made up here.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VideoPacket } from '../video-frames.ts';
import { NotForHardwareError, type NvdecSink } from './nvdec.ts';
import { nvdecRun } from './nvdec-run.ts';
import type { NvdecPicture, NvdecSequence } from './nvdec-structs.ts';
import type { PacketReader } from './open-video.ts';

const sequence: NvdecSequence = {
  codedWidth: 64,
  codedHeight: 64,
  left: 0,
  top: 0,
  width: 64,
  height: 60,
  chroma: 1,
  bits: 8,
  isFullRange: false,
  surfaces: 4,
};

/** One packet, in the order of decoding; it is shown when `pts` is its turn. */
interface Made {
  pts: number;
  isKey?: boolean;
  data?: Buffer;
  /** What the hardware makes of it. */
  isFine?: boolean;
  picture?: Partial<NvdecPicture>;
  pictures?: number;
  fails?: boolean;
}

const slices = { h264: Buffer.from([0, 0, 0, 2, 0x41, 1]), hevc: Buffer.from([0, 0, 0, 2, 0x02, 1]) } as const;
const slice = slices.h264;

/** A reader that gives these packets, up to a number that is not given. */
function readerOf(
  made: readonly Made[],
  codec: keyof typeof slices,
): Pick<PacketReader, 'last' | 'read' | 'current' | 'newExtradata'> {
  let at = 0;
  const packetAt = (): VideoPacket | undefined => {
    const one = made[at];
    const isKey = one?.isKey ?? false;
    return one && { packet: at, pts: one.pts, dts: at, position: at, size: 6, isKey, isClean: isKey, isHidden: false };
  };
  return {
    get last() {
      return packetAt();
    },
    read() {
      at++;
      return packetAt();
    },
    get current() {
      return {
        flags: 0,
        data: made[at]!.data ?? slices[codec],
        getSideData: () => null,
      } as unknown as PacketReader['current'];
    },
    newExtradata: undefined,
  };
}

/**
 * Hardware that decodes a packet at once, and shows the pictures of a group behind its last one, in the order of their
 * times.
 */
function hardwareOf(made: readonly Made[], reader: Pick<PacketReader, 'last'>) {
  return {
    decode(_codec: string, sink: NvdecSink, feed: (give: (picture: Buffer) => void) => void) {
      let number = 0;
      let held: number[] = [];
      const showAll = () => {
        for (const i of held.sort((a, b) => made[a]!.pts - made[b]!.pts)) sink.display(i);
        held = [];
      };
      if (!sink.sequence(sequence)) throw new NotForHardwareError();
      feed(() => {
        const at = reader.last!.packet;
        const one = made[at]!;
        if (one.fails) throw new Error('the card is gone');
        if (one.isKey) showAll();
        number = one.isKey ? 0 : number + 1;
        const picture = {
          surface: at,
          isField: false,
          slices: 1,
          isReference: true,
          frameNumber: number,
          frameNumbers: 16,
        };
        for (let i = 0; i < (one.pictures ?? 1); i++) sink.decode({ ...picture, ...one.picture });
        held.push(at);
      });
      showAll();
    },
    isFine: (surface: number) => made[surface]!.isFine ?? true,
    write: () => {},
  };
}

/** Packets whose frames are given out, in that order, and those that are marked as damaged. */
function run(
  made: readonly Made[],
  expected = { width: 64, height: 60, isFullRange: false },
  codec: keyof typeof slices = 'h264',
) {
  const shown: number[] = [];
  const failures: string[] = [];
  const layout = { lengthBytes: 4, parameterSets: Buffer.alloc(0) };
  const request = {
    isEnd: ({ packet }: VideoPacket) => packet >= made.length,
    show: ({ packet }: { packet: VideoPacket }) => shown.push(packet.packet),
  };
  const reader = readerOf(made, codec);
  const sent = nvdecRun(hardwareOf(made, reader), reader, { codec, layout, expected }, request, (error) =>
    failures.push(error.message),
  );
  assert.deepEqual(
    sent.map(({ packet }) => packet),
    made.map((_, i) => i),
    'every packet is read',
  );
  assert.deepEqual(
    sent.filter(({ isShown }) => isShown).map(({ packet }) => packet),
    [...shown].sort((a, b) => a - b),
  );
  return { shown, damaged: sent.filter(({ damage }) => damage).map(({ packet }) => packet), failures };
}

const key = { pts: 0, isKey: true };
/** Two groups; in the first, the third packet is shown before the second. */
const plain: Made[] = [key, { pts: 2 }, { pts: 1 }, { pts: 3, isKey: true }, { pts: 4 }];
const changed = (at: number, change: Partial<Made>): Made[] =>
  plain.map((one, i) => (i === at ? { ...one, ...change } : one));

test('frames come in the order in which they are shown', () => {
  assert.deepEqual(run(plain), { shown: [0, 2, 1, 3, 4], damaged: [], failures: [] });
});

test('behind an error of the hardware no later decoded frame is shown, even if it would be shown earlier', () => {
  assert.deepEqual(run(changed(1, { isFine: false })), { shown: [0], damaged: [1], failures: [] });
  assert.deepEqual(run(changed(4, { isFine: false })).shown, [0, 2, 1, 3]);
});

for (const [what, change] of [
  ['units that do not make up the packet', { data: Buffer.from([0, 0, 0, 9, 0x41, 1]) }],
  ['fewer slices than the packet has', { data: Buffer.concat([slice, slice]) }],
  ['no picture of a packet', { pictures: 0 }],
  ['two pictures of a packet', { pictures: 2 }],
  ['a field', { picture: { isField: true } }],
  ['a picture numbered as if one were missing', { picture: { frameNumber: 3 } }],
  ['no time', { pts: null as unknown as number }],
  ['a time before the key frame', { pts: -1 }],
] as const) {
  test(`a doubt is left by ${what}`, () => {
    const { shown, damaged } = run(changed(4, change));
    assert.deepEqual(damaged, [4]);
    assert.ok(!shown.includes(4));
  });
}

test('frames of H.265 that are shown before the key frame with which decoding begins are left out, without a doubt', () => {
  const open: Made[] = [{ pts: 2, isKey: true }, { pts: 0 }, { pts: 1 }, { pts: 5, isKey: true }, { pts: 4 }];
  assert.deepEqual(run(open, undefined, 'hevc'), { shown: [0, 4, 3], damaged: [], failures: [] });
  // If they come in another group, they leave a doubt.
  assert.deepEqual(run([...open, { pts: 1 }], undefined, 'hevc').damaged, [5]);
  assert.deepEqual(run(open).damaged, [1]);
});

test('cores decode all that hardware has not shown when it breaks down, which is reported', () => {
  assert.deepEqual(run(changed(3, { fails: true })), { shown: [], damaged: [3], failures: ['the card is gone'] });
});

test('hardware does not decode a sequence of another size or range than the container states', () => {
  for (const other of [{ width: 62 }, { height: 64 }, { isFullRange: true }]) {
    const { shown, failures } = run(plain, { width: 64, height: 60, isFullRange: false, ...other });
    assert.deepEqual([shown, failures], [[], []]);
  }
});
