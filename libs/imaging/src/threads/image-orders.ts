import type { Rect } from '@halogrid/geometry';
import type { InputError, SourceAccess } from '@halogrid/sources';
import type { MissingDecoderError } from '../missing-decoder-error.ts';
import type { OpenImage } from '../open-image.ts';
import type { PlaneTarget } from '../planes/plane-target.ts';

/** What a thread is told when it starts. */
export interface ImageThreadSetup {
  access: SourceAccess;
}

/** What a thread is told to do. Those of one turn of the event loop come in one message. */
export type ImageOrder = { id: number /** A number of its own. */; image: number } & (
  | { kind: 'open'; uri: string }
  | { kind: 'decode'; region: Rect; to: SentTarget }
  | { kind: 'copy'; path: string; channels: PlaneTarget['channels'] }
  | { kind: 'close' }
);

/** A target by the address of its bytes. */
export interface SentTarget extends Omit<PlaneTarget, 'bytes'> {
  address: bigint;
  length: number;
}

/** What is known of an image once it is open. */
export type OpenedImage = Pick<OpenImage, 'format' | 'width' | 'height' | 'pixel' | 'version' | 'readsRegions'> & {
  /** What its copy takes, where it has one. */
  copyBytes?: Record<PlaneTarget['channels'], number>;
};

/** The answer to the order of that id. */
export interface ImageAnswer {
  id: number;
  /** Of the image, so far. */
  inputBytes: number;
  /** Of one that was opened. */
  opened?: OpenedImage;
  error?: SentError;
}

/** An error on its way between threads; `input` for an InputError, `decodes` for a MissingDecoderError. */
export interface SentError {
  message: string;
  input?: Pick<InputError, 'stage' | 'fault' | 'mayPass'>;
  decodes?: MissingDecoderError['decodes'];
}
