import { join } from 'node:path';
import { ParameterError, parseOperation } from '@halogrid/kernels';
import type { JobForm, SubmitRequest } from '@halogrid/proto';
import { sourceAccess } from '@halogrid/sources';
import { toFileUri, toUri } from '@halogrid/sources/to-uri';
import { Refusal, refuseValue } from '../job/refusal.ts';

const texts = ['border', 'map', 'grid', 'out'] as const;
const lists = ['sources', 'operations'] as const;
/** The most entries of a list. A person chooses a few; for more, there are manifests. */
const mostTexts = 1_000;

/** The job that a form asks for, of which nothing but the form is checked. Throws Refusal. */
export function readJobForm(given: unknown, folder = process.cwd()): SubmitRequest {
  const { sources, operations, border, map, grid, out } = checkForm(given);
  const [, rows, columns] = /^([1-9]\d{0,6})x([1-9]\d{0,6})$/.exec(grid) ?? [];
  if (!rows || !columns) refuseValue('grid', grid, 'RxC with whole numbers from 1, such as 4x6,');
  try {
    return {
      spec: {
        sources: sources.map((source) => toUri(source, folder)),
        pipeline: { operations: operations.map((text) => ({ ...parseOperation(text), border })) },
        out: toFileUri(out || join(sourceAccess().roots?.[0] ?? folder, 'halogrid-out'), folder),
        ...{ mapFormat: map, tilePx: 0, batchFrames: 0 },
        grid: { rows: Number(rows), columns: Number(columns) },
      },
      nameOutByJob: out === '',
    };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const isTheirs = error instanceof ParameterError || (error as Error).name === 'SourceUriError';
    throw isTheirs ? new Refusal('invalid', (error as Error).message) : error;
  }
}

/** The form, whatever sent it. */
function checkForm(given: unknown): JobForm {
  const form = Object(given) as Record<string, unknown>;
  for (const name of Object.keys(form)) {
    if (![...texts, ...lists].includes(name as keyof JobForm)) {
      refuseValue('a field of the form', name, `one of ${[...lists, ...texts].join(', ')}`);
    }
  }
  for (const name of texts) if (typeof form[name] !== 'string') refuseValue(name, kindOf(form[name]), 'a text');
  for (const name of lists) {
    const list: unknown = form[name];
    const isList = Array.isArray(list) && list.length > 0 && list.every((one) => typeof one === 'string' && one !== '');
    if (!isList) refuseValue(name, kindOf(list), 'a list of texts that are not empty, one at least');
    if (list.length > mostTexts) refuseValue(`the number of ${name}`, list.length, `at most ${mostTexts}`);
  }
  return form as unknown as JobForm;
}

const kindOf = (value: unknown): string =>
  value === undefined
    ? 'nothing'
    : Array.isArray(value)
      ? 'another list'
      : value === null
        ? 'null'
        : `a ${typeof value}`;
