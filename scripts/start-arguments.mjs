/**
 * The arguments of `halogrid` for `npm start -- ...given`: two nodes, and the samples where no source is given.
 *
 * @param {string[]} given
 * @param {string[]} samples
 */
export function startArguments(given, samples) {
  const takesValue = (argument) => argument?.startsWith('--') && argument !== '--json' && !argument.includes('=');
  const hasSource = given.some((argument, i) => !argument.startsWith('-') && !takesValue(given[i - 1]));
  return ['run', '--nodes', '2', ...given, ...(hasSource ? [] : samples)];
}
