import { aborted, endOnUncaught, shutdownSignal } from '@halogrid/service';
import { createLog } from '@halogrid/service/log';
import { type Command, Option } from 'commander';
import { describeConsole } from '../cluster/describe-console.ts';
import { collect, duration, logLevels, parseWord, wholeNumber } from '../options/option-values.ts';

interface CoordinatorCommandOptions {
  listen?: string;
  http?: string;
  ledger?: string;
  ledgerInOutput?: boolean;
  nodeTimeout?: number;
  nodeGrace?: number;
  sourceGrace?: number;
  spaceGrace?: number;
  insecureNetwork?: boolean;
  tlsCert?: string;
  tlsKey?: string;
  tlsCa?: string;
  tokens?: string;
  ownToken?: boolean;
  dataRoot?: string[];
  allowHost?: string[];
  allowOrigin?: string[];
  index?: string[];
  logLevel: string;
}

export function addCoordinatorCommand(program: Command): void {
  program
    .command('coordinator')
    .description(
      'Runs the coordinator of a cluster until SIGTERM or Ctrl-C. When ready, it prints its ports as one line of JSON, and on a ' +
        "terminal the console's address; its log goes to stderr. Several coordinators with one PostgreSQL share the work: each leads " +
        'the jobs submitted to it, and takes over those of a coordinator that is gone. Of several with one file, one leads and the ' +
        'others stand by.',
    )
    .option('--listen <host:port>', 'gRPC address; port 0: any free one (default: 127.0.0.1:7070)')
    .option(
      '--http <host:port>',
      'address of the console, /api/v1, /metrics, /healthz and /readyz (default: 127.0.0.1:9464)',
    )
    .option(
      '--ledger <file|url>',
      'where to keep which jobs there are and who leads them: a file, or postgres://USER@HOST:PORT/DATABASE[?schema=NAME]; what is ' +
        'done of a job is in its output folder. HALOGRID_LEDGER in the environment says the same ' +
        "(default: halogrid/ledger.sqlite among the user's data)",
    )
    .option(
      '--node-timeout <ms>',
      'consider a node lost that is silent for longer (default: 10000)',
      wholeNumber('--node-timeout', 100, 600_000),
    )
    .option(
      '--node-grace <ms>',
      'fail a job when no attached node can read its sources or write its results for longer (default: 120000)',
      wholeNumber('--node-grace', 0, 86_400_000),
    )
    .option(
      '--source-grace <duration>',
      'fail a job when a host or bucket of its sources is away for longer; 0: at once (default: 10m)',
      duration('--source-grace'),
    )
    .option(
      '--space-grace <duration>',
      'fail a job when there is no room for its results for longer; 0: at once (default: never)',
      duration('--space-grace'),
    )
    .option('--data-root <dir>', 'sources and outputs must lie in it; repeat it for more', collect)
    .option('--allow-host <host,…>', 'hosts of http(s) sources: NAME, *.NAME or *', collect)
    .option(
      '--index <dir>',
      'an index that may be searched here, by the name of its folder; repeat it for more',
      collect,
    )
    .option('--tokens <file>', 'who may do what: ROLE NAME TOKEN [EXPIRES] a line; read again when it changes')
    .option('--tls-cert <file>', 'TLS on both addresses: the certificate (PEM)')
    .option('--tls-key <file>', 'its key (PEM)')
    .option('--tls-ca <file>', 'callers need a certificate that this authority signed (PEM)')
    // For 'run', which starts a coordinator for one job, and alone has its token.
    .addOption(new Option('--ledger-in-output').hideHelp().conflicts('ledger'))
    .addOption(new Option('--own-token').hideHelp().conflicts('tokens'))
    .option(
      '--allow-origin <origin>',
      'pages of this site may use the HTTP API, such as https://tools.example.org; repeat it for more',
      collect,
    )
    .option('--insecure-network', 'allow addresses beyond this machine, though there is neither TLS nor a token')
    .option('--log-level <level>', logLevels.join(', '), parseWord('--log-level', logLevels), 'info')
    .action(async (options: CoordinatorCommandOptions) => {
      // Imported late, like every part that only one command needs: no coordinator is loaded to print a status.
      const { createCoordinatorConfig, startCoordinator } = await import('@halogrid/coordinator');
      const {
        listen,
        http,
        ledger,
        ledgerInOutput,
        nodeTimeout: nodeTimeoutMs,
        nodeGrace: nodeGraceMs,
        sourceGrace: sourceGraceMs,
        spaceGrace: spaceGraceMs,
        insecureNetwork,
      } = options;
      const config = createCoordinatorConfig({
        listen,
        http,
        ledger,
        ledgerInOutput,
        nodeTimeoutMs,
        nodeGraceMs,
        sourceGraceMs,
        spaceGraceMs,
        insecureNetwork,
        index: options.index,
        allowOrigin: options.allowOrigin,
        security: options,
        data: options,
      });
      const log = createLog('coordinator', options.logLevel);
      endOnUncaught(log);
      const signal = shutdownSignal();
      const coordinator = await startCoordinator(config, log, signal);
      if (!coordinator) return;
      console.log(JSON.stringify({ grpc: coordinator.grpcPort, http: coordinator.httpPort }));
      if (process.stdout.isTTY) console.log(consoleLine(config.http.host, coordinator.httpPort, options));
      const lost = await Promise.race([aborted(signal), coordinator.lost]);
      // Nothing is closed in order then: what could still be written is for the successor to write.
      if (lost) throw new Error(lost);
      await coordinator.close();
    });
}

function consoleLine(host: string, port: number, options: CoordinatorCommandOptions): string {
  const { tlsCert, tlsCa, tokens, ownToken } = options;
  return describeConsole({
    ...{ host, port },
    isTls: tlsCert !== undefined,
    wantsToken: tokens !== undefined || ownToken === true,
    wantsCertificate: tlsCa !== undefined,
  });
}
