// Comes after item.wgsl if dense results are wanted; otherwise no-map.wgsl takes its place.

const WRITE_MAP = true;

// The same memory as vectors of 16 bytes and as words; an entry point uses one of them.
@group(0) @binding(3) var<storage, read_write> map_vectors: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> map_words: array<u32>;

fn store_vector(at: u32, vector: vec4<u32>) {
  map_vectors[at] = vector;
}

fn store_word(at: u32, word: u32) {
  map_words[at] = word;
}
