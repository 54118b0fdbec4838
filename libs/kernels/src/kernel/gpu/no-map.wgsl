// Takes the place of map.wgsl if dense results are not wanted. It binds nothing, so that no dispatch waits for another.

const WRITE_MAP = false;

fn store_vector(at: u32, vector: vec4<u32>) {
}

fn store_word(at: u32, word: u32) {
}
