/** A packet of a video as its container has it. Times are in units of the stream's time base. */
export interface VideoPacket {
  /** Its number among the packets of the stream, in the order of the file, which is that of decoding. */
  packet: number;
  pts: number | null;
  dts: number | null;
  /** See frame-turns.ts; for whoever plans. */
  turn?: number | null;
  /** Byte at which it lies; -1 where nobody can tell. */
  position: number;
  size: number;
  isKey: boolean;
  /** A key frame behind which no frame names one from before it; in the other codecs than H.264 any key frame. */
  isClean: boolean;
  /** Decoded but never shown, because an edit list says so. */
  isHidden: boolean;
  /**
   * For a key frame of H.264 that is not clean: reference pictures that were read before it, and from it on until all
   * is exact that is decoded from here.
   */
  references?: number;
  recovery?: number;
}

/** A frame that decoding gives, in the order of presentation. */
export interface VideoFrame {
  /** Its number in the video. */
  frame: number;
  /** From the first frame; in units of the time base; undefined where the container does not say. */
  ticks: number | undefined;
  /** The packet that holds it. Where `order` is there: the first packet of its group. */
  packet: number;
  /**
   * Where the packets of a group have no times of their own, nobody can tell which frame one holds without decoding:
   * then this is the place of the frame among those that decoding the group gives, in the order in which it does.
   */
  order?: number;
}

/**
 * A key frame and what follows it in the file, up to the next. All of its frames are shown after those of the groups
 * before it, and before those of the groups behind it.
 */
export interface FrameGroup {
  /** The first packet. */
  first: VideoPacket;
  /** One more than the number of the last packet. */
  end: number;
  frames: VideoFrame[];
  /**
   * Whether some of them may need the group before: those that are shown before the key frame but follow it in the
   * file.
   */
  needsGroupBefore: boolean;
  /**
   * How many of the frames, its first ones, those are, where the others are decoded from the key frame alone; 0 where
   * nobody can tell, and where that is not clean.
   */
  leading: number;
}

/** Cuts a stream's packets at its key frames. */
export async function* groupPackets(packets: AsyncIterable<VideoPacket>): AsyncGenerator<VideoPacket[]> {
  let group: VideoPacket[] = [];
  for await (const packet of packets) {
    if (packet.isKey && group.length > 0) {
      yield group;
      group = [];
    }
    group.push(packet);
  }
  if (group.length > 0) yield group;
}

/** Whether each packet of a group has a time of its own. */
export function areTimed(packets: readonly Pick<VideoPacket, 'pts'>[]): boolean {
  return new Set(packets.map(({ pts }) => pts)).size === packets.length && packets.every(({ pts }) => pts !== null);
}

/**
 * The times of shown frames, in the order of presentation: as packets state them, or by their turn. If some frames have
 * neither, all times are null. One exception: a recording may begin, with a key frame, before the first time that its
 * container can state. Then only its first frames have no time.
 */
function timesOf(shown: readonly VideoPacket[], isBegin: boolean): (number | null)[] {
  const stated = shown.map(({ pts }) => pts);
  const times = stated.includes(null) ? shown.map(({ turn = null }) => turn) : stated;
  if (!times.includes(null)) return inOrder(times);
  const known = isBegin && stated[0] === null ? inOrder(stated) : [];
  return [...Array(shown.length - known.length).fill(null), ...known];
}

const inOrder = (times: readonly (number | null)[]): number[] =>
  times.filter((ticks) => ticks !== null).sort((a, b) => a - b);

/**
 * The frames of a group, of which the first has the number `firstFrame`; times count from `startTicks`, or its own
 * start.
 */
export function framesOf(
  packets: readonly VideoPacket[],
  firstFrame: number,
  startTicks?: number,
): FrameGroup & { startTicks: number | undefined } {
  const first = packets[0]!;
  const shown = packets.filter(({ isHidden }) => !isHidden);
  const isTimed = areTimed(packets);
  const times = timesOf(shown, startTicks === undefined);
  if (isTimed) shown.sort((a, b) => a.pts! - b.pts!);
  const start = startTicks ?? times.find((ticks) => ticks !== null);
  const frames = shown.map(({ packet }, i): VideoFrame => {
    const time = times[i];
    const ticks = time != null && start !== undefined ? time - start : undefined;
    const place = isTimed ? { packet } : { packet: first.packet, order: i };
    return { frame: firstFrame + i, ticks, ...place };
  });
  const isClosed = isTimed && packets.every(({ pts }) => pts! >= first.pts!);
  const leading = isTimed && first.isClean ? shown.filter(({ pts }) => pts! < first.pts!).length : 0;
  const end = first.packet + packets.length;
  return { first, end, frames, needsGroupBefore: !isClosed, leading, startTicks: start };
}

/** What is decoded where nobody wants the frames that are shown before the key frame. */
export const withoutLeading = ({ first }: FrameGroup): Pick<FrameGroup, 'first' | 'needsGroupBefore'> => ({
  first,
  needsGroupBefore: false,
});

/** Groups before one, at most, of which one may be needed to decode it. */
export const groupsBefore = 64;

/**
 * Where decoding begins for a group, and from where on damage counts; `before` holds the first packets of the groups
 * before it. It begins with the group itself or, where its frames may need that, with the one before; and earlier still
 * where the key frame leaves older frames to be named: with the last from which on all is exact until then.
 */
export function beginOf(
  { first, needsGroupBefore }: Pick<FrameGroup, 'first' | 'needsGroupBefore'>,
  before: readonly VideoPacket[],
): { start: VideoPacket; strictFrom: number } {
  const last = before.at(-1);
  const [trusted, earlier] = needsGroupBefore && last ? [last, before.slice(0, -1)] : [first, before];
  const start = trusted.isClean
    ? trusted
    : (earlier.findLast((from) => isExactBy(from, trusted)) ?? earlier[0] ?? trusted);
  return { start, strictFrom: trusted.packet };
}

const isExactBy = (from: VideoPacket, { references = 0 }: VideoPacket): boolean =>
  from.isClean || (from.references ?? 0) + (from.recovery ?? 0) <= references;

/**
 * The packets whose frames cannot be trusted, where `isDamaged` says which could not be decoded as they were meant.
 * `packets` follow one another, from a key frame on. What follows a damaged packet, up to the next key frame, may be
 * decoded from it, and so may frames that follow that key frame but are shown before it. None of those is decoded from
 * by others than themselves. In a group without times of its own, all frames go where one is damaged.
 */
export function untrusted(
  packets: readonly Pick<VideoPacket, 'packet' | 'pts' | 'isKey'>[],
  isDamaged: (packet: number) => boolean,
): Set<number> {
  const found = new Set<number>();
  let isSpoiled = false;
  for (let from = 0, end = 0; from < packets.length; from = end) {
    end = from + 1;
    while (end < packets.length && !packets[end]!.isKey) end++;
    const group = packets.slice(from, end);
    if (!areTimed(group)) {
      if (group.some(({ packet }) => isDamaged(packet))) for (const { packet } of group) found.add(packet);
      isSpoiled = false;
      continue;
    }
    const keyPts = group[0]!.pts!;
    let areLeadingSpoiled = isSpoiled;
    isSpoiled = false;
    for (const { packet, pts } of group) {
      const isLeading = pts! < keyPts;
      if (isDamaged(packet)) {
        if (isLeading) areLeadingSpoiled = true;
        else isSpoiled = true;
      }
      if (isSpoiled || (isLeading && areLeadingSpoiled)) found.add(packet);
    }
  }
  return found;
}
