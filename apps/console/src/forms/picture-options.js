/** @import { JobSpec } from '@halogrid/proto' */
import { bandsIn, scaleIn } from '../words/picture-texts.js';

/**
 * What of images is read, by the texts of fields as the options of the command take them; empty: the default. The
 * coordinator checks the values. Throws one sentence for another text.
 *
 * @param {{ band: string; scale: string; level: string; page: string }} texts
 * @returns {Partial<Pick<JobSpec, 'band' | 'scale' | 'level' | 'page'>>}
 */
export const pictureOptions = ({ band, scale, level, page }) => ({
  ...(band && { band: valueIn(band, bandsIn, 'numbers from 1, such as 1,2,4, or all,') }),
  ...(scale && { scale: valueIn(scale, scaleIn, 'two numbers and u8 or u16, as in -1,1 or 0,3000,u16,') }),
  ...(level && { level }),
  ...(page && { page: valueIn(page, pageIn, 'the number of a page from 1') }),
});

/** @param {string} text */
const pageIn = (text) => (/^[1-9]\d*$/.test(text) ? Number(text) : undefined);

/**
 * @template Value
 * @param {string} text
 * @param {(text: string) => Value | undefined} read
 * @param {string} allowed
 */
function valueIn(text, read, allowed) {
  const value = read(text);
  if (value === undefined) throw new Error(`Expected ${allowed} but received '${text}'`);
  return value;
}
