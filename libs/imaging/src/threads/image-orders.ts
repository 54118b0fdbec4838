import type { Rect } from '@halogrid/geometry';
import { InputError, type SourceAccess } from '@halogrid/sources';
import { MissingDecoderError } from '../missing-decoder-error.ts';
import type { OpenImage } from '../planes/image.ts';
import type { PlaneTarget } from '../planes/plane-target.ts';
import type { ReadOptions } from '../planes/read-options.ts';

/** What a thread is told when it starts. */
export interface ImageThreadSetup {
  access: SourceAccess;
}

/** What a thread is told to do. */
export type ImageOrder = {
  /** The number of the image. */
  image: number;
} & (
  | { kind: 'open'; uri: string; read?: ReadOptions | undefined }
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
export type OpenedImage = Pick<
  OpenImage,
  | 'format'
  | 'width'
  | 'height'
  | 'pixel'
  | 'version'
  | 'captured'
  | 'place'
  | 'noData'
  | 'samples'
  | 'isConverted'
  | 'readsRegions'
> & {
  /** The bytes of its copy, if it can be copied. */
  copyBytes?: Record<PlaneTarget['channels'], number>;
};

export interface ImageAnswer {
  /** Bytes read of the image so far. */
  inputBytes: number;
  /** As in OpenImage. */
  mended?: string;
  /** The image, if the order was to open one. */
  opened?: OpenedImage;
}

/** An error on its way between threads; `input` for an InputError, `decodes` for a MissingDecoderError. */
interface SentError {
  message: string;
  input?: Pick<InputError, 'stage' | 'fault'>;
  decodes?: MissingDecoderError['decodes'];
}

export function packImageError(error: unknown): SentError {
  if (error instanceof InputError) {
    const { message, stage, fault } = error;
    return { message, input: { stage, fault } };
  }
  if (error instanceof MissingDecoderError) return { message: error.message, decodes: error.decodes };
  return { message: error instanceof Error ? error.message : String(error) };
}

export function unpackImageError(failure: unknown): Error {
  const { message, input, decodes } = failure as SentError;
  if (decodes) return new MissingDecoderError(decodes, message);
  return input ? new InputError(input.stage, message, input) : new Error(message);
}
