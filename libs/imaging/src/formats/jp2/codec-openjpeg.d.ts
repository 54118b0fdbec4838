declare module '@cornerstonejs/codec-openjpeg/decodewasmjs' {
  /** OpenJPEG, compiled to WebAssembly, with a memory of its own. */
  export interface Openjpeg {
    readonly HEAPU8: Uint8Array;
    readonly J2KDecoder: new () => J2kDecoder;
  }
  export interface J2kDecoder {
    /** Where the bytes of the file are to be put. */
    getEncodedBuffer(length: number): Uint8Array;
    /** `layers`: 0 for all. */
    decodeSubResolution(level: number, layers: number): void;
    getFrameInfo(): { componentCount: number; bitsPerSample: number };
    /** A copy of the samples, as many side by side as there are components. */
    getDecodedBuffer(): Uint8ClampedArray<ArrayBuffer>;
    delete(): void;
  }
  export default function open(options: {
    print: (line: string) => void;
    printErr: (line: string) => void;
  }): Promise<Openjpeg>;
}
