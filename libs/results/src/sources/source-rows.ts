import type { SchemaElement } from 'hyparquet';
import { columnPage } from '../features/column-page.ts';
import { encodeFlags, encodeOptional } from '../features/number-columns.ts';
import { ParquetFile } from '../features/parquet-file.ts';
import { TextList } from '../features/text-list.ts';
import { headKey, type SourceLine } from './source-line.ts';

/** Sources of a page, and pages of a row group. */
const pageRows = 1024;
const groupPages = 8;

type TextName = 'uri' | 'version' | 'name' | 'digest' | 'captured';
type NumberName = 'frame' | 'timestampMs' | 'width' | 'height' | 'counted';

const text = (name: TextName, repetition_type: SchemaElement['repetition_type'] = 'OPTIONAL'): SchemaElement => {
  return { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type };
};
const number = (name: NumberName, type: 'INT64' | 'DOUBLE' = 'INT64'): SchemaElement => {
  return { name, type, repetition_type: 'OPTIONAL' };
};

/** The fields of a SourceLine; null where it has none. */
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
const schema: SchemaElement[] = [{ name: 'schema', num_children: columns.length }, ...columns];

/** Writes the list of a job's sources as rows of Parquet, one a source and in order. Memory is a row group. */
export class SourceRows {
  readonly #file: ParquetFile;
  readonly #head: object;
  readonly #texts = Object.fromEntries(columns.map(({ name }) => [name, new TextList()])) as Record<TextName, TextList>;
  readonly #numbers: Record<NumberName, Float64Array>;
  #quarantined: boolean[] = [];
  #pages: Parameters<ParquetFile['append']>[0][number][] = [];

  /** `head` is what the list says of itself. The folder of `path` must exist. */
  static async create(path: string, head: object): Promise<SourceRows> {
    return new SourceRows(await ParquetFile.create(path, schema), head);
  }

  private constructor(file: ParquetFile, head: object) {
    this.#file = file;
    this.#head = head;
    const column = () => new Float64Array(pageRows);
    this.#numbers = { frame: column(), timestampMs: column(), width: column(), height: column(), counted: column() };
  }

  /** The next source. What it returns is to be waited for before the next; undefined for nothing. */
  add(line: SourceLine): Promise<void> | undefined {
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
    if (at + 1 < pageRows) return undefined;
    this.#endPage();
    return this.#pages.length < groupPages ? undefined : this.#writeGroup();
  }

  /** Makes the file durable and gives it its name. */
  async finish(): Promise<void> {
    if (this.#quarantined.length > 0) this.#endPage();
    if (this.#pages.length > 0) await this.#writeGroup();
    await this.#file.finish({ schema, about: { [headKey]: JSON.stringify(this.#head) } });
  }

  async abort(): Promise<void> {
    await this.#file.abort();
  }

  #endPage(): void {
    const rows = this.#quarantined.length;
    const encoded = columns.map(({ name, type, repetition_type }) => {
      if (type === 'BOOLEAN') return encodeFlags(this.#quarantined);
      if (type === 'BYTE_ARRAY') return this.#texts[name as TextName].encode(repetition_type === 'OPTIONAL');
      return encodeOptional(type as 'INT64' | 'DOUBLE', this.#numbers[name as NumberName].subarray(0, rows));
    });
    this.#pages.push({ rows, columns: encoded.map((column) => columnPage(rows, column)) });
    for (const list of Object.values(this.#texts)) list.clear();
    this.#quarantined = [];
  }

  async #writeGroup(): Promise<void> {
    const pages = this.#pages;
    this.#pages = [];
    await this.#file.append(pages);
  }
}
