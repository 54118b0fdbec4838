/** A packet of a video as its container has it. Times are in units of the stream's time base. */
export interface VideoPacket {
  /** Its number among the packets of the stream, in the order of the file, which is the order of decoding. */
  packet: number;
  pts: number | null;
  dts: number | null;
  /** For planning; see frame-turns.ts. */
  turn?: number | null;
  /** The byte at which it lies; -1 if that is not known. */
  position: number;
  size: number;
  isKey: boolean;
  /**
   * Whether it is a key frame, and no frame behind it refers to one before it. In codecs other than H.264, every key
   * frame is clean.
   */
  isClean: boolean;
  /** Decoded but never shown, because an edit list says so. */
  isHidden: boolean;
  /**
   * For a key frame of H.264 that is not clean. `references`: how many reference pictures were read before it;
   * `recovery`: how many must be read, from it on, until decoding that begins here is exact.
   */
  references?: number;
  recovery?: number;
}

/** A frame that decoding gives, in the order of presentation. */
export interface VideoFrame {
  /** Its number in the video. */
  frame: number;
  /** Time since the first frame, in units of the time base; undefined if the container does not state it. */
  ticks: number | undefined;
  /** The packet that holds it; if there is an `order`, the first packet of its group. */
  packet: number;
  /**
   * If the packets of a group have no times of their own, only decoding tells which frame a packet holds. Then this is
   * the place of the frame among the frames that decoding the group gives.
   */
  order?: number;
}

/**
 * A key frame and the packets that follow it in the file, up to the next key frame. All of its frames are shown after
 * the frames of earlier groups, and before the frames of later groups.
 */
export interface FrameGroup {
  /** The first packet. */
  first: VideoPacket;
  /** One more than the number of the last packet. */
  end: number;
  frames: VideoFrame[];
  /**
   * Whether some frames may need the group before: frames that are shown before the key frame but follow it in the
   * file.
   */
  needsGroupBefore: boolean;
  /**
   * How many of the first frames are shown before the key frame. All other frames are decoded from the key frame alone.
   * 0 if that is not known, or if the key frame is not clean.
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
 * The frames of a group, numbered from `firstFrame` on; times count from `startTicks`, or from the group's own start.
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

/** The group as it is decoded if no frame is wanted that is shown before the key frame. */
export const withoutLeading = ({ first }: FrameGroup): Pick<FrameGroup, 'first' | 'needsGroupBefore'> => ({
  first,
  needsGroupBefore: false,
});

/** The most groups before one that are kept, because decoding it may have to begin with one of them. */
export const groupsBefore = 64;

/**
 * Where decoding begins for a group, and from which packet on damage counts; `before`: the first packets of the groups
 * before it. Decoding begins with the group itself or, if its frames may need the group before, with that one. If the
 * first of these key frames is not clean, decoding begins earlier: with the last group from which decoding is exact by
 * then.
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
 * The packets whose frames cannot be trusted. `packets` are successive, from a key frame on; `isDamaged` says which
 * were not decoded correctly. Packets behind a damaged one, up to the next key frame, may be decoded from it. So may
 * packets that follow that key frame but are shown before it; only such packets are decoded from these. In a group
 * without times of its own, one damaged packet spoils all frames.
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
