import { jsonName } from '@halogrid/proto/json-name';
import { optionOfField } from '../client/option-of-field.ts';

/** What a program calls an option of `run`, or the field that it sets: `maxQuarantined`, `sources[2]`. */
export function nameInProgram(name: string): string {
  const option = optionOfField(name);
  const [, place] = /^SOURCE(?: (\d+))?$/.exec(option) ?? [];
  if (place !== undefined) return `sources[${Number(place) - 1}]`;
  if (option === 'SOURCE') return 'sources';
  if (option === '--pipeline') return 'pipelines';
  return jsonName(option.replace(/^--/, '').replaceAll('-', '_'));
}
