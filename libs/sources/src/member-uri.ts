import { markedPath, unescaped } from './marked-path.ts';

/** A member of a tar file: bytes of the tar that are a file. */
export interface TarMember {
  /** Its path in the tar, without '/' at its beginning. */
  name: string;
  /** Where its bytes begin in the tar. */
  start: number;
  length: number;
}

/** The text that stands for the member behind the URI of its tar: #/FOLDER/NAME@START+LENGTH.EXTENSION. */
const suffix = /^(.*\.tar(?:\?[^#]*)?)#\/([^#]*)@(\d{1,15})\+(\d{1,15})(\.[^./#@]*)?$/is;

/**
 * The URI of a member: the URI of its tar, and the member's path, with the place of its bytes in front of the
 * extension. So members of a folder are in one folder of URIs, and the end of a URI tells the format.
 */
export function memberUri(tarUri: string, { name, start, length }: TarMember): string {
  return `${tarUri}#/${markedPath(name, `${start}+${length}`)}`;
}

/** The URI of the file that holds the bytes, and if it is a tar, the member of it that the URI names. */
export function splitMember(uri: string): { file: string; member?: TarMember } {
  // Few URIs have one, and millions are asked for.
  if (!uri.includes('#/')) return { file: uri };
  const [, file, path, start, length, extension = ''] = suffix.exec(uri) ?? [];
  if (file === undefined) return { file: uri };
  return { file, member: { name: unescaped(path + extension), start: Number(start), length: Number(length) } };
}

export const isMemberUri = (uri: string): boolean => splitMember(uri).member !== undefined;
