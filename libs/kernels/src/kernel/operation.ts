import type { ImageType, PixelType } from '@halogrid/geometry';
import type { BorderMode } from './border.ts';
import type { Parameters } from './kernel.ts';
import type { ItemResult, PlaneItem } from './plane-item.ts';

/** One kernel with its parameters and its border rule, all of them, and what follows from them. */
export interface Operation<Settings = unknown> {
  readonly kernel: string;
  readonly parameters: Parameters;
  readonly border: BorderMode;
  /** What the parameters mean, as the kernel's own programs read it. */
  readonly settings: Settings;
  /** Pixels read around a pixel, on each side. */
  readonly halo: number;
  /** What its dense result is made of. */
  readonly output: ImageType;
  /** Type of the pixels it reads; u8 where it is absent. */
  readonly reads?: PixelType;
}

/** Computes one kernel on the planes of one item. */
export type RunKernel<Settings> = (
  operation: Operation<Settings>,
  bytes: Uint8Array,
  item: PlaneItem,
  withMap: boolean,
) => ItemResult;
