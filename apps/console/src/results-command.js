/** Where a coordinator listens unless it is told otherwise, as `halogrid results` takes it. */
const usual = { coordinator: '127.0.0.1:7070', httpPort: '9464' };

/**
 * The command that copies the results of a job, for a machine that reaches the coordinator as this page was reached.
 *
 * @param {string} jobId
 * @param {number} grpcPort
 * @param {Pick<Location, 'hostname' | 'port' | 'protocol'>} page
 */
export function resultsCommand(jobId, grpcPort, { hostname, port, protocol }) {
  const host = hostname === 'localhost' ? '127.0.0.1' : hostname;
  const httpPort = port || (protocol === 'https:' ? '443' : '80');
  const coordinator = `${host}:${grpcPort}`;
  return [
    `halogrid results ${jobId} --out FOLDER`,
    coordinator === usual.coordinator ? '' : ` --coordinator ${coordinator}`,
    httpPort === usual.httpPort ? '' : ` --http ${host}:${httpPort}`,
  ].join('');
}
