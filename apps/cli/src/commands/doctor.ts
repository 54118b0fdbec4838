import { findGpus } from '@halogrid/gpu-node/gpus';
import { type Command, Option } from 'commander';
import { describeEnding, startChild } from '../cluster/child.ts';
import { describeFindings, type Findings, inspectMachine, installedVersions } from '../doctor/findings.ts';
import { folderSpaces } from '../doctor/folder-space.ts';
import { probeJpegs } from '../doctor/jpegs.ts';
import { probePorts } from '../doctor/ports.ts';
import type { DeviceTrial } from '../doctor/probe.ts';
import { probeSlides } from '../doctor/slides.ts';
import { probeVideos } from '../doctor/videos.ts';
import { type DeviceChoice, deviceChoices } from '../options/option-values.ts';
import { exitCodes } from '../process/exit-code.ts';
import { foundFiles } from '../settings/read-settings.ts';
import type { SettingCommand } from '../settings/setting-command.ts';

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('Tests every device with a small image and shows what was found; exits with 1 if none works.')
    .option('--json', 'print JSON')
    .addOption(new Option('--probe <device>').choices(deviceChoices).hideHelp())
    .action(async (options: { json?: boolean; probe?: DeviceChoice }, command: SettingCommand) => {
      if (options.probe) return printProbe(options.probe);
      process.exitCode = await examine(options.json ?? false, foundFiles(command.settings));
    });
}

/**
 * Tests one device in this process and prints the result. The process exists only for this, because a driver may crash
 * it.
 */
async function printProbe(choice: DeviceChoice): Promise<void> {
  const { probeDevice } = await import('../doctor/probe.ts');
  console.log(JSON.stringify(await probeDevice(choice)));
}

async function examine(asJson: boolean, settings: Findings['settings']): Promise<number> {
  const choices: DeviceChoice[] = ['gpu', 'software', 'cpu', 'auto'];
  const probes = await Promise.all(choices.map(async (choice) => [choice, await probeInChild(choice)] as const));
  const devices = Object.fromEntries(probes) as Findings['devices'];
  // After the tests: the UUID of a card is known once the card was opened.
  const gpus = (await findGpus()) ?? { visible: [], hidden: [] };
  const findings: Findings = {
    versions: installedVersions(),
    machine: inspectMachine(),
    gpus,
    devices,
    videos: await probeVideos(),
    jpegs: probeJpegs(),
    slides: await probeSlides(),
    space: folderSpaces(process.env, process.cwd()),
    ports: await probePorts(),
    settings,
  };
  process.stdout.write(asJson ? `${JSON.stringify(findings, null, 2)}\n` : describeFindings(findings));
  if (probes.some(([, probe]) => probe.works)) return exitCodes.complete;
  throw new Error(
    `No device works here: ${probes.map(([choice, p]) => `${choice}: ${p.works ? '' : p.reason}`).join('; ')}`,
  );
}

/**
 * How long a driver may take: it may hang. The slowest normal start, which unpacks the software device, takes a few
 * seconds.
 */
const probeWithinMs = 60_000;

/** Tests a device in a process of its own, because a broken driver may crash it. */
async function probeInChild(choice: DeviceChoice): Promise<DeviceTrial> {
  const child = startChild(['doctor', '--probe', choice]);
  let isLate = false;
  const patience = setTimeout(() => {
    isLate = true;
    void child.stop();
  }, probeWithinMs);
  const probe = (await child.ready) as DeviceTrial | undefined;
  clearTimeout(patience);
  await child.stop();
  if (probe) return probe;
  if (isLate) return { works: false, reason: `it did not answer within ${probeWithinMs / 1000} s` };
  const lastWords = child.logTail().at(-1);
  return {
    works: false,
    reason: `its process ${describeEnding(await child.ended)}${lastWords ? `: ${lastWords}` : ''}`,
  };
}
