import { jsonName } from '@halogrid/proto/json-name';
import { optionOfField } from '../client/option-of-field.ts';

/**
 * The name in a program for an option of `run`, or for the field that the option sets: `maxQuarantined`, `sources[2]`.
 */
export function nameInProgram(name: string): string {
  const option = optionOfField(name);
  const [, place] = /^SOURCE(?: (\d+))?$/.exec(option) ?? [];
  if (place !== undefined) return `sources[${Number(place) - 1}]`;
  if (option === 'SOURCE') return 'sources';
  if (option === '--pipeline') return 'pipelines';
  return jsonName(option.replace(/^--/, '').replaceAll('-', '_'));
}
