/**
 * The SVG path of the area under values, from left to right over `width`. The largest value reaches `height`. Empty for
 * fewer than two values.
 *
 * @param {readonly number[]} values 0 or more
 * @param {number} width
 * @param {number} height
 */
export function areaPath(values, width, height) {
  if (values.length < 2) return '';
  const top = Math.max(...values) || 1;
  const points = values.map((value, i) => {
    const x = (i * width) / (values.length - 1);
    const y = height - (value * height) / top;
    return `${round(x)} ${round(y)}`;
  });
  return `M0 ${height}L${points.join('L')}L${width} ${height}Z`;
}

/** @param {number} value */
const round = (value) => Math.round(value * 10) / 10;
