import type { SchemaElement } from 'hyparquet';
import { columnPage, type MakePage } from '../features/column-page.ts';
import type { RowsPage } from '../features/encode-group.ts';
import { encodeFlags, encodeOptional } from '../features/number-columns.ts';
import { TextList } from '../features/text-list.ts';
import type { SourceLine } from './source-line.ts';

/** The most sources of a page, and the most pages of a row group. */
export const pageRows = 1024;
export const groupPages = 8;

type TextName = 'uri' | 'version' | 'name' | 'digest' | 'captured';
type NumberName = 'frame' | 'timestampMs' | 'width' | 'height' | 'counted';

const text = (name: TextName, repetition_type: SchemaElement['repetition_type'] = 'OPTIONAL'): SchemaElement => {
  return { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type };
};
const number = (name: NumberName, type: 'INT64' | 'DOUBLE' = 'INT64'): SchemaElement => {
  return { name, type, repetition_type: 'OPTIONAL' };
};

/** The fields of a SourceLine. A missing field is null. */
const columns: SchemaElement[] = [
  text('uri', 'REQUIRED'),
  number('frame'),
  number('timestampMs', 'DOUBLE'),
  text('version'),
  { name: 'quarantined', type: 'BOOLEAN', repetition_type: 'REQUIRED' },
  text('name'),
  number('width'),
  number('height'),
  number('counted'),
  text('digest'),
  text('captured'),
];
/** The columns of sources.parquet, in the order of the pages of SourcePages. */
export const sourceSchema: SchemaElement[] = [{ name: 'schema', num_children: columns.length }, ...columns];

/** Makes the pages of sources.parquet, with a row per source, in order. Holds one page. */
export class SourcePages {
  readonly #texts = Object.fromEntries(columns.map(({ name }) => [name, new TextList()])) as Record<TextName, TextList>;
  readonly #numbers: Record<NumberName, Float64Array>;
  readonly #makePage: MakePage;
  #quarantined: boolean[] = [];

  constructor(makePage: MakePage = columnPage) {
    this.#makePage = makePage;
    const column = () => new Float64Array(pageRows);
    this.#numbers = { frame: column(), timestampMs: column(), width: column(), height: column(), counted: column() };
  }

  /** Adds the next source. Returns the page, if it is full now. */
  add(line: SourceLine): RowsPage | undefined {
    const at = this.#quarantined.length;
    const found = line.quarantined ? undefined : line;
    const [texts, numbers] = [this.#texts, this.#numbers];
    texts.uri.add(line.uri);
    texts.version.add(line.version ?? null);
    numbers.frame[at] = line.frame ?? Number.NaN;
    numbers.timestampMs[at] = line.timestampMs ?? Number.NaN;
    texts.name.add(found?.name ?? null);
    numbers.width[at] = found?.width ?? Number.NaN;
    numbers.height[at] = found?.height ?? Number.NaN;
    numbers.counted[at] = found?.counted ?? Number.NaN;
    texts.digest.add(found?.digest ?? null);
    texts.captured.add(found?.captured ?? null);
    this.#quarantined.push(line.quarantined === true);
    return at + 1 < pageRows ? undefined : this.end();
  }

  /** Ends the page; undefined if it has no sources. */
  end(): RowsPage | undefined {
    const rows = this.#quarantined.length;
    if (rows === 0) return undefined;
    const encoded = columns.map(({ name, type, repetition_type }) => {
      if (type === 'BOOLEAN') return encodeFlags(this.#quarantined);
      if (type === 'BYTE_ARRAY') return this.#texts[name as TextName].encode(repetition_type === 'OPTIONAL');
      return encodeOptional(type as 'INT64' | 'DOUBLE', this.#numbers[name as NumberName].subarray(0, rows));
    });
    for (const list of Object.values(this.#texts)) list.clear();
    this.#quarantined = [];
    return { rows, columns: encoded.map((column) => this.#makePage(rows, column)) };
  }
}
