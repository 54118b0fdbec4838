/** Pictures in a strip. */
const shown = 9;

/**
 * The API query of the frames that a strip shows: some of all frames at equal distances, or the frames around one.
 *
 * @param {number} total
 * @param {number | undefined} around undefined: spread over all frames
 */
export function stripFrames(total, around) {
  const count = Math.min(shown, total);
  const step = around === undefined ? Math.max(1, Math.ceil((total - 1) / Math.max(1, count - 1))) : 1;
  const from = around === undefined ? 0 : Math.max(0, Math.min(total - count, around - Math.floor(count / 2)));
  return `from=${from}&step=${step}&count=${count}`;
}
