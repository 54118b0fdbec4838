// Takes the place of histogram.wgsl if nothing is counted. It binds nothing, so that no dispatch waits for another.

fn count(histogram: u32, local: u32, bin: u32, times: u32) {
}

fn count_bytes(histogram: u32, local: u32, first: u32, bytes: u32) {
}

fn uncount(histogram: u32, local: u32, bin: u32, times: u32) {
}

fn put_counts(histogram: u32, local: u32, lanes: u32, groups: vec3<u32>) {
}

fn add_counts(histogram: u32, local: u32, lanes: u32) {
}
