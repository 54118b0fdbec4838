/** GPUBufferUsage of the WebGPU specification, whose global exists only after Dawn is loaded. */
export const bufferUsage = {
  MAP_READ: 0x1,
  MAP_WRITE: 0x2,
  COPY_SRC: 0x4,
  COPY_DST: 0x8,
  UNIFORM: 0x40,
  STORAGE: 0x80,
  QUERY_RESOLVE: 0x200,
} as const;

/** GPUMapMode, likewise. */
export const mapMode = { READ: 1, WRITE: 2 } as const;
