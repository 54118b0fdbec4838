/** @import { BandOptions, ScaleOptions } from '@halogrid/proto' */

// What of images is read, in the texts that the command's options and the page's fields take. The coordinator checks
// the values.

/**
 * Bands: `1,2,4` or `all`. Undefined for another text.
 *
 * @param {string} text
 * @returns {BandOptions | undefined}
 */
export function bandsIn(text) {
  if (text === 'all') return { numbers: [], all: true };
  return /^[1-9]\d{0,4}(,[1-9]\d{0,4})*$/.test(text) ? { numbers: text.split(',').map(Number) } : undefined;
}

/**
 * A scale: `-1,1` or `0,3000,u16`. Undefined for another text.
 *
 * @param {string} text
 * @returns {ScaleOptions | undefined}
 */
export function scaleIn(text) {
  const [, min, max, bits = '8'] = /^([^,\s]+),([^,\s]+)(?:,u(8|16))?$/.exec(text) ?? [];
  const scale = { min: Number(min), max: Number(max), bits: Number(bits) };
  return Number.isFinite(scale.min) && Number.isFinite(scale.max) ? scale : undefined;
}
