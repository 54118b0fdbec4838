import { loadKoffi } from '@halogrid/threads/load-koffi';
import type { KoffiFunc, LibraryHandle } from 'koffi';
import { MissingDecoderError } from '../../missing-decoder-error.ts';

/*
 * OpenSlide as the system has it installed, 3.4 or 4. It reads files that anybody may have made, so only
 * slide-process.ts loads it.
 */

type Handle = { readonly brand: unique symbol };

/** Names of the library, the newer one first. */
const libraries: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: ['libopenslide.so.1', 'libopenslide.so.0'],
  darwin: ['', '/opt/homebrew/lib/', '/usr/local/lib/'].flatMap((folder) =>
    [1, 0].map((major) => `${folder}libopenslide.${major}.dylib`),
  ),
  win32: ['libopenslide-1.dll', 'libopenslide-0.dll'],
};

export interface OpenSlide {
  readonly version: string;
  readonly library: string;
  /** Undefined if it knows no format of that file. The handle must be closed, also if it has an error. */
  open: KoffiFunc<(path: string) => Handle | null>;
  close: KoffiFunc<(slide: Handle) => void>;
  error: KoffiFunc<(slide: Handle) => string | null>;
  property: KoffiFunc<(slide: Handle, name: string) => string | null>;
  levels: KoffiFunc<(slide: Handle) => number>;
  dimensions: KoffiFunc<(slide: Handle, level: number, width: BigInt64Array, height: BigInt64Array) => void>;
  downsample: KoffiFunc<(slide: Handle, level: number) => number>;
  /** Places count in pixels of level 0, sizes in pixels of the level. Pixels are premultiplied ARGB. */
  read: KoffiFunc<
    (slide: Handle, to: Uint32Array, x: number, y: number, level: number, width: number, height: number) => void
  >;
}

/** Throws MissingDecoderError with a command that installs it, if none of the libraries can be loaded. */
export function loadOpenSlide(names = libraries[process.platform] ?? []): OpenSlide {
  const [file, library] = loadFirst(names);
  const version = file.func('const char *openslide_get_version()')() as string;
  return {
    version,
    library,
    open: file.func('void *openslide_open(const char *path)') as OpenSlide['open'],
    close: file.func('void openslide_close(void *slide)') as OpenSlide['close'],
    error: file.func('const char *openslide_get_error(void *slide)') as OpenSlide['error'],
    property: file.func(
      'const char *openslide_get_property_value(void *slide, const char *name)',
    ) as OpenSlide['property'],
    levels: file.func('int32_t openslide_get_level_count(void *slide)') as OpenSlide['levels'],
    dimensions: file.func(
      'void openslide_get_level_dimensions(void *slide, int32_t level, int64_t *width, int64_t *height)',
    ) as OpenSlide['dimensions'],
    downsample: file.func(
      'double openslide_get_level_downsample(void *slide, int32_t level)',
    ) as OpenSlide['downsample'],
    read: file.func(
      'void openslide_read_region(void *slide, uint32_t *to, int64_t x, int64_t y, int32_t level, int64_t width, int64_t height)',
    ) as OpenSlide['read'],
  };
}

function loadFirst(names: readonly string[]): [file: LibraryHandle, name: string] {
  let broken = '';
  for (const name of names) {
    try {
      return [loadKoffi().load(name), name];
    } catch (error) {
      const { message } = error as Error;
      if (!/no such file|not found|could not be found|126/i.test(message)) broken = ` (${message})`;
    }
  }
  throw new MissingDecoderError(
    'slide',
    `Slides cannot be read here: OpenSlide is not installed${broken}; 'apt install libopenslide0' (Debian, Ubuntu) or ` +
      `'brew install openslide' (macOS) adds it`,
  );
}
