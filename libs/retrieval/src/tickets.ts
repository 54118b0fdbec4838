import { createHmac, timingSafeEqual } from 'node:crypto';

/** A frame that may be shown, and the output folder of its job, where maps of it may be. */
export interface ShownFrame {
  uri: string;
  frame: number;
  isVideo: boolean;
  out?: string;
}

/** A ticket is part of a path, and a request's headers have 16 KiB at most. */
const mostCharacters = 8_192;

/**
 * Names frames so that nobody can ask for others: whoever has been told of a frame has its ticket, which no one else can sign. It
 * needs no list of what was told, and is of no use to another process.
 */
export class Tickets {
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** Empty where the frame's URI is too long for one. */
  sign(frame: ShownFrame): string {
    const text = Buffer.from(JSON.stringify(frame)).toString('base64url');
    const ticket = `${text}.${this.#signature(text).toString('base64url')}`;
    return ticket.length <= mostCharacters ? ticket : '';
  }

  /** Undefined for what this process has not signed. */
  read(ticket: string): ShownFrame | undefined {
    const [text = '', signature = '', more] = ticket.split('.');
    const [given, known] = [Buffer.from(signature, 'base64url'), this.#signature(text)];
    if (more !== undefined || given.length !== known.length || !timingSafeEqual(given, known)) return undefined;
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  }

  #signature(text: string): Buffer {
    return createHmac('sha256', this.#secret).update(text).digest();
  }
}
