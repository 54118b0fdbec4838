import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ShownSource } from '@halogrid/results/thumbnails';

/** A frame that may be shown. `out` is the URI of its job's output folder, which may have a map of the frame. */
export interface ShownFrame {
  uri: string;
  frame: number;
  isVideo: boolean;
  /** What its picture shows of an image. */
  read: NonNullable<ShownSource['read']>;
  out?: string;
}

/** The most characters of a ticket: it is part of a path, and the headers of a request may have 16 KiB. */
const mostCharacters = 8_192;

/**
 * Signs tickets that name frames. A caller gets a ticket with each frame of an answer, and can show no other frame,
 * because only this process can sign. So no list of shown frames is kept. Another process does not accept the ticket.
 */
export class Tickets {
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** The ticket of a frame; empty if the frame's URI is too long for one. */
  sign(frame: ShownFrame): string {
    const text = Buffer.from(JSON.stringify(frame)).toString('base64url');
    const ticket = `${text}.${this.#signature(text).toString('base64url')}`;
    return ticket.length <= mostCharacters ? ticket : '';
  }

  /** The frame of a ticket; undefined for a text that this process has not signed. */
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
