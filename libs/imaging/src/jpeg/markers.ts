/** The second bytes of markers; the first is FF. */
export const marker = {
  dht: 0xc4,
  firstRestart: 0xd0,
  startOfImage: 0xd8,
  endOfImage: 0xd9,
  startOfScan: 0xda,
  dqt: 0xdb,
  dri: 0xdd,
  app0: 0xe0,
  app14: 0xee,
  app15: 0xef,
  com: 0xfe,
} as const;

/** Markers of the frames that are read: baseline, and extended sequential, which differs in what tables it may have. */
export const huffmanFrames: readonly number[] = [0xc0, 0xc1];

/** Whether a marker ends a stretch of the data; there are eight, which take turns. */
export const isRestart = (code: number): boolean => code >= marker.firstRestart && code < marker.firstRestart + 8;
