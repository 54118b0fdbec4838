/** @import { BandOptions, JobSpec, ScaleOptions } from '@halogrid/proto' */

/**
 * What of images is read, by the texts of fields as the options of the command take them; empty: the default. The
 * coordinator checks the values. Throws one sentence for another text.
 *
 * @param {{ band: string; scale: string; level: string; page: string }} texts
 * @returns {Partial<Pick<JobSpec, 'band' | 'scale' | 'level' | 'page'>>}
 */
export const pictureOptions = ({ band, scale, level, page }) => ({
  ...(band && { band: bandsOf(band) }),
  ...(scale && { scale: scaleOf(scale) }),
  ...(level && { level }),
  ...(page && { page: pageOf(page) }),
});

/** @param {string} text @returns {BandOptions} */
function bandsOf(text) {
  if (text === 'all') return { numbers: [], all: true };
  if (!/^\d+(,\d+)*$/.test(text))
    throw new Error(`Expected numbers from 1, such as 1,2,4, or all, but received '${text}'`);
  return { numbers: text.split(',').map(Number) };
}

/** @param {string} text @returns {ScaleOptions} */
function scaleOf(text) {
  const [, min, max, bits = '8'] = /^([^,\s]+),([^,\s]+)(?:,u(8|16))?$/.exec(text) ?? [];
  const scale = { min: Number(min), max: Number(max), bits: Number(bits) };
  if (Number.isFinite(scale.min) && Number.isFinite(scale.max)) return scale;
  throw new Error(`Expected two numbers and u8 or u16, as in -1,1 or 0,3000,u16, but received '${text}'`);
}

/** @param {string} text */
function pageOf(text) {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`Expected the number of a page from 1 but received '${text}'`);
  return Number(text);
}
