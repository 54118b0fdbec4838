/** The default addresses of a coordinator, which `halogrid results` uses without options. */
const usual = { coordinator: '127.0.0.1:7070', httpPort: '9464' };

/**
 * The command that copies the results of a job to the machine of the browser, which reaches the coordinator by this
 * page's host.
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
