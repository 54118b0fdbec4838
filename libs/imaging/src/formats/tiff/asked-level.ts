/** The level of a pyramid that is asked for: its number, 0 for the largest, or the most micrometres a pixel. */
export type AskedLevel = { number: number } | { microns: number };

export const sayAsked = (level: AskedLevel): string =>
  'number' in level ? `level ${level.number}` : `at most ${level.microns} micrometres a pixel`;
