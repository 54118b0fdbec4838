import type { RowGroup, SchemaElement } from 'hyparquet';
import { columnLeaves } from './column-leaves.ts';
import { endOfFile, type FooterFrame, footerFrame, groupsHeader, readFooter } from './footer-bytes.ts';
import { packGroup } from './pack-group.ts';

/** The content of a footer, apart from the row groups. */
export interface FooterFacts {
  /** The schema of all row groups. Types may be wider than when the file was begun. */
  schema: SchemaElement[];
  /** The description that the file has in itself, by key. */
  about: Readonly<Record<string, string>>;
}

/**
 * The entries for row groups in the footer of a file, already packed: a kilobyte each with ten columns, where objects
 * would take nine.
 */
export class FooterGroups {
  readonly #schema: SchemaElement[];
  /** Made when it is first needed. */
  #frame: FooterFrame | undefined;
  readonly #packed: Uint8Array[] = [];
  #rows = 0n;

  /** `schema` is the schema of the row groups. */
  constructor(schema: SchemaElement[]) {
    this.#schema = schema;
  }

  get length(): number {
    return this.#packed.length;
  }

  add(group: RowGroup): void {
    this.#packed.push(packGroup(group, this.#schema));
    this.#rows += group.num_rows;
  }

  /** The row groups from index `from` up to `to`, which is left out. */
  slice(from: number, to: number): RowGroup[] {
    return this.#packed.slice(from, to).map((packed) => this.#unpack(packed));
  }

  /** The end of a file with these row groups. */
  footer({ schema, about }: FooterFacts): Uint8Array {
    const key_value_metadata = Object.entries(about).map(([key, value]) => ({ key, value }));
    const { front, back } = footerFrame({ schema, num_rows: this.#rows, key_value_metadata });
    return endOfFile([front, groupsHeader(this.length), ...this.#ofTypes(schema), back]);
  }

  /** The packed entries, with the types that the columns have in `schema`. */
  #ofTypes(schema: SchemaElement[]): readonly Uint8Array[] {
    const types = columnLeaves(schema).map(({ type }) => type);
    if (columnLeaves(this.#schema).every(({ type }, i) => type === types[i])) return this.#packed;
    return this.#packed.map((packed) => packGroup(this.#unpack(packed), schema));
  }

  #unpack(packed: Uint8Array): RowGroup {
    this.#frame ??= footerFrame({ schema: this.#schema, num_rows: 0n });
    const { front, back } = this.#frame;
    return readFooter(endOfFile([front, groupsHeader(1), packed, back])).row_groups[0]!;
  }
}
