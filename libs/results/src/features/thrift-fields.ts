import type { ByteWriter } from 'hyparquet-writer';

/** Types of Thrift's compact protocol. */
const thriftTypes = { false: 2, i32: 5, i64: 6, binary: 8, list: 9, struct: 12 } as const;

/** Types of the items of lists. */
type ItemType = 'i32' | 'binary' | 'struct';

/** Lists with fewer items have their length in the byte of their type. */
const longList = 15;

/**
 * Writes a struct in Thrift's compact protocol for Parquet: fields by ascending numbers, then `end`. Source:
 * thrift-compact-protocol.md of apache/thrift. hyparquet-writer first makes an object for each struct: a part then
 * takes a seventh more processor time and leaves a third more garbage (measured with 128 frames of 256 bins per row
 * group).
 */
export class ThriftFields {
  readonly #to: ByteWriter;
  #last = 0;

  constructor(to: ByteWriter) {
    this.#to = to;
  }

  /** A whole number from 0 to 2^52. */
  number(id: number, type: 'i32' | 'i64', value: number | bigint): void {
    this.#begin(id, type);
    putNumber(this.#to, Number(value));
  }

  false(id: number): void {
    this.#begin(id, 'false');
  }

  /** The head of a field that is a struct. The struct must be written next. */
  struct(id: number): void {
    this.#begin(id, 'struct');
  }

  /** A field that is a list. `put` writes an item, and gets its index. */
  list<Item>(id: number, type: ItemType, items: readonly Item[], put: (item: Item, nth: number) => void): void {
    this.#begin(id, 'list');
    putListHead(this.#to, type, items.length);
    for (let nth = 0; nth < items.length; nth++) put(items[nth]!, nth);
  }

  end(): void {
    this.#to.appendUint8(0);
  }

  #begin(id: number, type: keyof typeof thriftTypes): void {
    this.#to.appendUint8(((id - this.#last) << 4) | thriftTypes[type]);
    this.#last = id;
  }
}

/** Writes the head of a list of `length` items. */
export function putListHead(to: ByteWriter, type: ItemType, length: number): void {
  to.appendUint8((Math.min(length, longList) << 4) | (length === 0 ? 0 : thriftTypes[type]));
  if (length >= longList) to.appendVarInt(length);
}

/** Writes a whole number from 0 to 2^52 as a varint of twice the number: odd varints are for negative numbers. */
export function putNumber(to: ByteWriter, value: number): void {
  let left = 2 * value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) to.appendUint8((left % 0x80) | 0x80);
  to.appendUint8(left);
}

export function putBytes(to: ByteWriter, bytes: Uint8Array): void {
  to.appendVarInt(bytes.length);
  to.appendBytes(bytes);
}
