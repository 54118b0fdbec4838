import { aborted, endOnUncaught, shutdownSignals } from '@halogrid/service';
import {
  hostForOthers,
  parseHost,
  removeCoordinatorFile,
  writeCoordinatorFile,
} from '@halogrid/service/coordinator-file';
import { createLog, type LogFormat, logFormats } from '@halogrid/service/log';
import { type Command, Option } from 'commander';
import { describeConsole } from '../cluster/describe-console.ts';
import { collect, duration, logLevels, parseWord, wholeNumber } from '../options/option-values.ts';
import { setScratch } from '../options/set-scratch.ts';

interface CoordinatorCommandOptions {
  listen?: string;
  http?: string;
  advertise?: string;
  coordinatorFile?: string;
  ledger?: string;
  ledgerFile?: string;
  ledgerInOutput?: boolean;
  scratch?: string;
  nodeTimeout?: number;
  nodeGrace?: number;
  sourceGrace?: number;
  spaceGrace?: number;
  retention?: number;
  insecureNetwork?: boolean;
  drain?: boolean;
  tlsCert?: string;
  tlsKey?: string;
  tlsCa?: string;
  tokens?: string;
  owners?: string;
  oidcIssuer?: string;
  oidcAudience?: string;
  oidcName?: string;
  identityHeader?: string;
  trustedProxy?: string[];
  ownToken?: boolean;
  dataRoot?: string[];
  allowHost?: string[];
  allowOrigin?: string[];
  index?: string[];
  logLevel: string;
  logFormat: LogFormat;
}

export function addCoordinatorCommand(program: Command): void {
  program
    .command('coordinator')
    .description(
      'Runs the coordinator of a cluster until SIGTERM or Ctrl-C. When ready, it prints its host and ports as one line of JSON, and on a ' +
        "terminal the console's address; its log goes to stderr. Several coordinators with one PostgreSQL share the work: each leads " +
        'the jobs submitted to it, and takes over the jobs of a coordinator that is gone. If they share one file, one leads and the ' +
        'others stand by.',
    )
    .option('--listen <host:port>', 'gRPC address; port 0: any free one (default: 127.0.0.1:7070)')
    .option(
      '--http <host:port>',
      'address of the console, /api/v1, /metrics, /healthz and /readyz (default: 127.0.0.1:9464)',
    )
    .option(
      '--advertise <host>',
      "the host at which others reach it (default: that of --listen, or the machine's name if it listens on all addresses)",
      (text: string) => parseHost('--advertise', text),
    )
    .option(
      '--coordinator-file <file>',
      'write host and ports to this file once it serves, for --coordinator-file of nodes and clients; removed when it ends',
    )
    .option(
      '--ledger <file|url>',
      'where the list of jobs and their leaders is kept: a file, or postgres://USER@HOST:PORT/DATABASE[?schema=NAME]. The progress ' +
        'of a job is kept in its output folder. HALOGRID_LEDGER in the environment does the same ' +
        "(default: halogrid/ledger.sqlite in the user's data folder)",
    )
    .addOption(
      new Option(
        '--ledger-file <file>',
        'read from this file what --ledger takes, such as a URL with a password',
      ).conflicts('ledger'),
    )
    .option(
      '--scratch <dir>',
      "folder for unfinished results of outputs in buckets; it must last (default: halogrid/scratch in the user's data folder)",
    )
    .option(
      '--node-timeout <ms>',
      'treat a node as lost when it has been silent for this long (default: 10000)',
      wholeNumber('--node-timeout', 100, 600_000),
    )
    .option(
      '--node-grace <ms>',
      'fail a job when no attached node has been able to read its sources or write its results for this long (default: 120000)',
      wholeNumber('--node-grace', 0, 86_400_000),
    )
    .option(
      '--source-grace <duration>',
      'fail a job when a host or bucket of its sources has been unavailable for this long; 0: at once (default: 10m)',
      duration('--source-grace'),
    )
    .option(
      '--space-grace <duration>',
      'fail a job when there has been no room for its results for this long; 0: at once (default: never)',
      duration('--space-grace'),
    )
    .option(
      '--retention <duration>',
      'remove the results of a job this long after its end, such as 90d (default: never)',
      duration('--retention'),
    )
    .option(
      '--data-root <dir|uri>',
      'allow sources and outputs only in this folder, and outputs below this s3:// prefix; repeat it for more',
      collect,
    )
    .option('--allow-host <host,…>', 'allow http(s) sources only from these hosts: NAME, *.NAME or *', collect)
    .option('--index <dir>', 'serve searches of this index, named after its folder; repeat it for more', collect)
    .option('--tokens <file>', 'who may do what, a line each: ROLE NAME TOKEN [EXPIRES]; read again when it changes')
    .option(
      '--owners <file>',
      'what owners of jobs may have, a line each: NAME|* [jobs=N] [credit=SIZE] [priority=N] [role=ROLE]; read again when it changes',
    )
    .option('--oidc-issuer <url>', 'also know callers by tokens (JWT) that this OpenID Connect provider has signed')
    .option('--oidc-audience <name>', 'accept only tokens for this audience')
    .option('--oidc-name <claim>', 'the claim that names the caller (default: sub)')
    .option('--identity-header <name>', 'also know callers by this header, in which a --trusted-proxy names them')
    .option(
      '--trusted-proxy <address>',
      'an address or network, such as 10.0.0.0/8, whose --identity-header counts; repeat it for more',
      collect,
    )
    .option('--tls-cert <file>', 'use TLS on both addresses, with this certificate (PEM)')
    .option('--tls-key <file>', 'its key (PEM)')
    .option('--tls-ca <file>', 'require a client certificate signed by this authority (PEM)')
    // For `run`, which starts a coordinator for one job and is the only one with its token.
    .addOption(new Option('--ledger-in-output').hideHelp().conflicts(['ledger', 'ledgerFile']))
    .addOption(new Option('--own-token').hideHelp().conflicts('tokens'))
    .option(
      '--allow-origin <origin>',
      'let pages of this site use the HTTP API, such as https://tools.example.org; repeat it for more',
      collect,
    )
    .option(
      '--drain',
      'at SIGTERM or Ctrl-C take no new jobs, and end once those that it leads have ended, or at once if another coordinator takes ' +
        'them over; a second signal ends it at once',
    )
    .option('--insecure-network', 'allow addresses beyond this machine without TLS or a token')
    .option('--log-level <level>', logLevels.join(', '), parseWord('--log-level', logLevels), 'info')
    .option(
      '--log-format <format>',
      'json for programs, text for people',
      parseWord('--log-format', logFormats),
      'json',
    )
    .action(async (options: CoordinatorCommandOptions) => {
      setScratch(options.scratch);
      // Imported late, like every part that only one command needs: printing a status must not load the coordinator.
      const { createCoordinatorConfig, startCoordinator } = await import('@halogrid/coordinator');
      const {
        listen,
        http,
        ledger,
        ledgerFile,
        ledgerInOutput,
        nodeTimeout: nodeTimeoutMs,
        nodeGrace: nodeGraceMs,
        sourceGrace: sourceGraceMs,
        spaceGrace: spaceGraceMs,
        retention: retentionMs,
        insecureNetwork,
      } = options;
      const config = createCoordinatorConfig({
        listen,
        http,
        ledger,
        ledgerFile,
        ledgerInOutput,
        nodeTimeoutMs,
        nodeGraceMs,
        sourceGraceMs,
        spaceGraceMs,
        retentionMs,
        insecureNetwork,
        index: options.index,
        allowOrigin: options.allowOrigin,
        security: options,
        data: options,
      });
      const log = createLog('coordinator', options.logLevel, { format: options.logFormat });
      endOnUncaught(log);
      const [signal, stopNow] = shutdownSignals(options.drain ? 2 : 1);
      const coordinator = await startCoordinator(config, log, signal!);
      if (!coordinator) return;
      const { coordinatorFile, advertise } = options;
      const host = hostForOthers(config.listen, advertise);
      const place = { host, grpc: coordinator.grpcPort, http: coordinator.httpPort };
      console.log(JSON.stringify(place));
      if (process.stdout.isTTY) {
        console.log(consoleLine(hostForOthers(config.http, advertise), coordinator.httpPort, options));
      }
      if (coordinatorFile !== undefined) await writeCoordinatorFile(coordinatorFile, place);
      const toldToEnd = async (): Promise<void> => {
        await aborted(signal!);
        // Nodes still find it meanwhile.
        if (stopNow) await Promise.race([coordinator.drain(), aborted(stopNow)]);
      };
      const lost = await Promise.race([toldToEnd(), coordinator.lost]);
      // First of all, so that nobody dials it any more.
      if (coordinatorFile !== undefined) await removeCoordinatorFile(coordinatorFile, place);
      // One that no longer leads is not closed in order: its successor writes what is left to write.
      const reason = lost ?? (await Promise.race([coordinator.close(), coordinator.lost]));
      if (reason) throw new Error(reason);
    });
}

function consoleLine(host: string, port: number, options: CoordinatorCommandOptions): string {
  const { tlsCert, tlsCa, tokens, ownToken } = options;
  return describeConsole({
    host,
    port,
    isTls: tlsCert !== undefined,
    wantsToken: tokens !== undefined || ownToken === true,
    wantsCertificate: tlsCa !== undefined,
  });
}
