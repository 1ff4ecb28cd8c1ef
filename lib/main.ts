import { visible } from '../base/visible.ts';
import { hasCode } from '../store/disk/durable.ts';
import { refuseNewer } from '../store/format.ts';
import { layoutOf } from '../store/layout.ts';
import type { VersionInfo } from '../store/records/version.ts';
import { sentenceOf } from './cli/foreseen.ts';
import { type Command, type Config, readConfig, UsageError } from './config.ts';
import { versionInfo } from './daemon/version.ts';

// Each loads what it needs itself: none waits for the code of another.
const COMMANDS: Record<Command, (config: Config, version: VersionInfo) => Promise<number>> = {
  serve: async (config, version) => (await import('./cli/serve.ts')).serve(config, version),
  init: async (config) => (await import('./cli/init.ts')).init(config),
  key: async (config) => (await import('./cli/key.ts')).key(config),
  trust: async (config) => (await import('./cli/trust.ts')).trustCommand(config),
  doctor: async (config) => (await import('./cli/doctor.ts')).doctor(config),
  check: async (config) => (await import('./cli/check.ts')).check(config),
  import: async (config) => (await import('./cli/import.ts')).importCommand(config),
  help: async ({ help_of, env }) => (await import('./cli/help.ts')).help(help_of, env),
  version: async (_config, { version, commit }) =>
    say(`dossier ${version}${commit === null ? '' : ` (${commit.slice(0, 12)})`}\n`),
};

/** What has nothing to do with the workspace's files, or says itself what it has. */
const ANY_FORMAT: readonly Command[] = ['doctor', 'help', 'version'];

const say = (text: string): number => {
  process.stdout.write(text);
  return 0;
};

const main = async (): Promise<number> => {
  let config: Config | undefined;
  try {
    const read = readConfig();
    config = read.config;
    if (!ANY_FORMAT.includes(read.command)) refuseNewer(layoutOf(config.workspace));
    return await COMMANDS[read.command](config, versionInfo());
  } catch (error) {
    return complain(error, config);
  }
};

// What the operator can do something about is a sentence; a stack is for what nobody foresaw.
const complain = (error: unknown, config: Config | undefined): number => {
  if (error instanceof UsageError) {
    process.stderr.write(
      `dossier: ${visible(error.message)}. dossier --help tells what there is.\n`,
    );
    return 2;
  }
  const text = sentenceOf(error, config) ?? (error instanceof Error ? error.stack : String(error));
  process.stderr.write(`dossier: ${visible(text ?? '')}\n`);
  return 1;
};

// Who listened has heard enough, as head has: what is being done is done all the same.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error) => {
    if (!hasCode(error, 'EPIPE')) throw error;
  });

// What is awaited may hold nothing open for a moment; Node would then end the process, and with 0.
setInterval(() => undefined, 2 ** 30);
process.exit(await main());
