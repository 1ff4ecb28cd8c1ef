#!/usr/bin/env node

import { visible } from '../store/text/visible.ts';
import { type Command, type Config, readConfig, UsageError } from './config.ts';
import type { VersionInfo } from './service.ts';
import { versionInfo } from './version.ts';

// Each loads what it needs itself: none waits for the code of another.
const COMMANDS: Record<Command, (config: Config, version: VersionInfo) => Promise<number>> = {
  serve: async (config, version) => (await import('./cli/serve.ts')).serve(config, version),
  init: async (config) => (await import('./cli/init.ts')).init(config),
  key: async (config) => (await import('./cli/key.ts')).key(config),
  trust: async (config) => (await import('./cli/trust.ts')).trustCommand(config),
  doctor: async (config) => (await import('./cli/doctor.ts')).doctor(config),
  check: async (config) => (await import('./cli/check.ts')).check(config),
  import: async (config) => (await import('./cli/import.ts')).importCommand(config),
  help: async ({ help_of }) => say((await import('./cli/help.ts')).helpFor(help_of)),
  version: async (_config, { version, commit }) =>
    say(`dossier ${version}${commit === null ? '' : ` (${commit.slice(0, 12)})`}\n`),
};

const say = (text: string): number => {
  process.stdout.write(text);
  return 0;
};

const main = async (): Promise<number> => {
  try {
    const { command, config } = readConfig();
    return await COMMANDS[command](config, versionInfo());
  } catch (error) {
    return complain(error);
  }
};

// What the operator can do something about is a sentence; a stack is for what nobody foresaw.
const complain = (error: unknown): number => {
  if (error instanceof UsageError) {
    process.stderr.write(
      `dossier: ${visible(error.message)}. dossier --help tells what there is.\n`,
    );
    return 2;
  }
  const foreseen = error instanceof Error && ['Refusal', 'ServiceError'].includes(error.name);
  const text = foreseen || !(error instanceof Error) ? error : error.stack;
  process.stderr.write(`dossier: ${visible(foreseen ? (error as Error).message : String(text))}\n`);
  return 1;
};

// What is awaited may hold nothing open for a moment; Node would then end the process, and with 0.
setInterval(() => undefined, 2 ** 30);
process.exit(await main());
