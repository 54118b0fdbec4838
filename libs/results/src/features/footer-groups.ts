import type { RowGroup, SchemaElement } from 'hyparquet';
import { columnLeaves } from './column-leaves.ts';
import { endOfFile, type FooterFrame, footerFrame, groupsHeader, readFooter } from './footer-bytes.ts';
import { packGroup } from './pack-group.ts';

/** What a footer says but for the row groups. */
export interface FooterFacts {
  /** That of all row groups; may have wider types than the file began with. */
  schema: SchemaElement[];
  /** What the file says of itself, by key. */
  about: Readonly<Record<string, string>>;
}

/**
 * What the footer of a file says of its row groups, in the bytes that it will have: a kilobyte each with ten columns,
 * where objects take nine.
 */
export class FooterGroups {
  readonly #schema: SchemaElement[];
  /** Made when it is first needed. */
  #frame: FooterFrame | undefined;
  readonly #packed: Uint8Array[] = [];
  #rows = 0n;

  /** `schema` is that of the row groups. */
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

  /** Those from number `from` up to `to`, which is left out. */
  slice(from: number, to: number): RowGroup[] {
    return this.#packed.slice(from, to).map((packed) => this.#unpack(packed));
  }

  /** What a file with these row groups ends with. */
  footer({ schema, about }: FooterFacts): Uint8Array {
    const key_value_metadata = Object.entries(about).map(([key, value]) => ({ key, value }));
    const { front, back } = footerFrame({ schema, num_rows: this.#rows, key_value_metadata });
    return endOfFile([front, groupsHeader(this.length), ...this.#ofTypes(schema), back]);
  }

  /** What is packed, with the types that columns have in another schema. */
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
