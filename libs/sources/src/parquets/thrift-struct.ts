import { DamagedError } from './damaged-error.ts';

/** The most levels of structs in structs: Parquet has 7. The limit bounds the recursion of readers. */
const mostLevels = 32;
/** The most bytes of a 64-bit integer, 7 bits a byte. */
const mostVarintBytes = 10;

/**
 * The kept fields of a struct: its structs, booleans, and integers of more than a byte, by field number.
 */
export interface ThriftStruct {
  readonly [field: number]: bigint | boolean | ThriftStruct | undefined;
}

/**
 * Reads a struct of Thrift's compact protocol, as in Parquet. It never reads beyond the bytes, and refuses a list with
 * more elements than bytes that follow. Throws DamagedError. Also returns where the struct ends.
 */
export function readThriftStruct(bytes: Uint8Array, start = 0): { value: ThriftStruct; end: number } {
  const reader = new Reader(bytes, start);
  return { value: reader.struct(0), end: reader.at };
}

class Reader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes;
    this.at = start;
  }

  struct(level: number): ThriftStruct {
    if (level > mostLevels) throw new DamagedError('its structs lie too deep');
    const value: Record<number, bigint | boolean | ThriftStruct> = {};
    let field = 0n;
    for (let head = this.#byte(); (head & 0x0f) !== 0; head = this.#byte()) {
      field = head >> 4 ? field + BigInt(head >> 4) : this.#integer();
      const element = this.#element(head & 0x0f, level);
      // If a field comes twice, the last one counts.
      if (element === undefined) delete value[Number(field)];
      else value[Number(field)] = element;
    }
    return value;
  }

  #element(type: number, level: number): bigint | boolean | ThriftStruct | undefined {
    switch (type) {
      case 1:
        return true;
      case 2:
        return false;
      case 3:
        return this.#skip(1n);
      case 4:
      case 5:
      case 6:
        return this.#integer();
      case 7:
        return this.#skip(8n);
      case 8:
        return this.#skip(this.#varint());
      case 9:
        return this.#list(level);
      case 12:
        return this.struct(level + 1);
      default:
        throw new DamagedError(`it has a field of the unknown type ${type}`);
    }
  }

  #list(level: number): undefined {
    const head = this.#byte();
    const type = head & 0x0f;
    const size = head >> 4 === 15 ? this.#varint() : BigInt(head >> 4);
    if (size > BigInt(this.#bytes.length - this.at)) throw new DamagedError('a list of it is longer than what is left');
    // In a list, each boolean takes one byte.
    for (let i = 0n; i < size; i++) this.#element(type < 3 ? 3 : type, level);
  }

  #byte(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) throw new DamagedError('it ends in the middle of a struct');
    return byte;
  }

  #skip(bytes: bigint): undefined {
    if (bytes > BigInt(this.#bytes.length - this.at))
      throw new DamagedError('a text of it is longer than what is left');
    this.at += Number(bytes);
  }

  #integer(): bigint {
    const zigzag = this.#varint();
    return (zigzag >> 1n) ^ -(zigzag & 1n);
  }

  #varint(): bigint {
    let value = 0n;
    for (let i = 0; i < mostVarintBytes; i++) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << BigInt(7 * i);
      if (byte < 0x80) return value;
    }
    throw new DamagedError('an integer of it has no end');
  }
}
