// Comes before direct.wgsl and separable.wgsl: the bins of results, see conv-binning.ts.

// The width of a bin, for f32 and for i16 results, and the lower end of the first bin, in widths.
override REAL_STEP: f32 = 1;
override WHOLE_STEP: i32 = 1;
override BIN_FIRST: i32 = 0;
// The last bin.
override BIN_LAST: i32 = 255;
// The bin of pixels without a result, which count as 0: see `excess` of item.wgsl.
override BIN_OF_ZERO: u32 = u32(-BIN_FIRST);

// Counts four results of f32.
fn count_reals(histogram: u32, local: u32, values: vec4<f32>) {
  let places = floor(values * (1 / REAL_STEP)) - f32(BIN_FIRST);
  count_four(histogram, local, vec4<u32>(clamp(places, vec4(0f), vec4(f32(BIN_LAST)))));
}

// Counts four results of i16. Dividends are not negative, because the division of negative integers rounds towards 0.
fn count_wholes(histogram: u32, local: u32, values: vec4<i32>) {
  let held = clamp(values, vec4(-32768), vec4(32767));
  let places = max(held - vec4(BIN_FIRST * WHOLE_STEP), vec4(0)) / vec4(WHOLE_STEP);
  count_four(histogram, local, vec4<u32>(min(places, vec4(BIN_LAST))));
}

// Four equal bins, usual in flat areas, take one addition.
fn count_four(histogram: u32, local: u32, bins: vec4<u32>) {
  if (all(bins == bins.xxxx)) {
    count(histogram, local, bins.x, 4);
  } else {
    count(histogram, local, bins.x, 1);
    count(histogram, local, bins.y, 1);
    count(histogram, local, bins.z, 1);
    count(histogram, local, bins.w, 1);
  }
}
