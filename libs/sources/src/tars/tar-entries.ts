import { InputError } from '../input-error.ts';
import { blockBytes, type PaxFacts, readPax, readTarHeader, type TarHeader, textOf } from './tar-header.ts';

/** The bytes of a tar. */
export interface TarBytes {
  readonly sizeBytes: number;
  /** Those bytes, which lie in the tar; valid until the next call. */
  read(position: number, length: number): Promise<Buffer>;
}

/** A member that is a file, a part of one (sparse), or a link to one. */
export interface TarEntry {
  kind: 'file' | 'sparse' | 'link';
  /** Its path, byte for byte. */
  name: Buffer;
  start: number;
  length: number;
}

/** The longest texts in front of a member. Linux has paths up to 4 KiB. */
const mostPaxBytes = 2 ** 20;
const mostNameBytes = 2 ** 16;

/** Files; of an unknown type, too, as POSIX asks for. */
const isFile = (type: string): boolean => !/[1-6DMNV]/.test(type);
/** Members without bytes behind their header, whatever size it states: links, devices, folders. */
const hasNoBytes = (type: string): boolean => /[1-6]/.test(type);

/**
 * The members of a tar, in their order, by its headers alone. Throws InputError where the tar is damaged or cut off;
 * the members before have then been handed out.
 */
export async function* tarEntries(tar: TarBytes): AsyncGenerator<TarEntry, void, undefined> {
  let facts: PaxFacts = {};
  for (let at = 0; ; ) {
    if (at + blockBytes > tar.sizeBytes) {
      throw new InputError('read', `The tar is cut off: it ends at byte ${tar.sizeBytes}, without an end mark`);
    }
    const header = readTarHeader(await tar.read(at, blockBytes));
    if (header === 'end') return;
    if (!header) {
      const what = at === 0 ? 'Not a tar' : 'The tar is damaged';
      throw new InputError('read', `${what}: no header of a member is at byte ${at}`);
    }
    // Solaris wrote extended headers by another letter.
    const type = header.type === 'X' ? 'x' : header.type;
    let start = at + blockBytes;
    if (type === 'S')
      for (let more = isExtended(await tar.read(at, blockBytes), 482); more; start += blockBytes) {
        checkHeld(tar, start + blockBytes);
        more = isExtended(await tar.read(start, blockBytes), 504);
      }
    const isAhead = /[xLgK]/.test(type);
    const length = hasNoBytes(type) ? 0 : isAhead ? header.size : (facts.size ?? header.size);
    checkHeld(tar, start + length, facts.name ?? header.name);
    at = start + Math.ceil(length / blockBytes) * blockBytes;
    // A header for all members (g) and a long target of a link (K) say nothing of bytes.
    if (type === 'x' || type === 'L') facts = { ...facts, ...(await readAhead(tar, header, start)) };
    if (isAhead) continue;
    const { name = header.name, isSparse } = facts;
    facts = {};
    const kind = type === '1' || type === '2' ? 'link' : type === 'S' || isSparse ? 'sparse' : 'file';
    // Old programs wrote folders as files of that name.
    if ((kind === 'link' || isFile(type)) && !name.toString('latin1').endsWith('/'))
      yield { kind, name, start, length };
  }
}

/** What an extended header, or GNU's long name, says of the next member. */
async function readAhead(tar: TarBytes, { type, size }: TarHeader, start: number): Promise<PaxFacts> {
  if (size > (type === 'L' ? mostNameBytes : mostPaxBytes)) throw damaged(start, `has ${size} bytes`);
  const bytes = Buffer.from(await tar.read(start, size));
  const facts = type === 'L' ? { name: textOf(bytes) } : readPax(bytes);
  if (!facts) throw damaged(start, 'cannot be read');
  return facts;
}

const damaged = (at: number, why: string): InputError =>
  new InputError('read', `The tar is damaged: its extended header at byte ${at} ${why}`);

const isExtended = (block: Buffer, at: number): boolean => block[at] === 1;

function checkHeld({ sizeBytes }: TarBytes, end: number, name?: Buffer): void {
  if (end <= sizeBytes) return;
  const where = name ? ` inside its member '${name.toString().slice(0, 200)}'` : '';
  throw new InputError('read', `The tar is cut off at byte ${sizeBytes},${where || ' inside a header'}`);
}
