import { visible } from '../store/base/visible.ts';
import { hasCode } from '../store/fs/durable.ts';
import { layoutOf } from '../store/layout.ts';
import { readLine } from './cli/args/read.ts';
import { NoDaemon } from './cli/args/refusal.ts';
import { COMMANDS } from './cli/commands.ts';
import { type Config, UsageError } from './config.ts';

const main = async (): Promise<number> => {
  let config: Config | undefined;
  try {
    const { env, argv } = process;
    const { command, call } = readLine(COMMANDS, argv.slice(2), { env, bare: 'up' });
    config = call.config;
    // What reads records takes longer to load than a whole call of the daemon.
    if (command.usesFiles === true)
      (await import('../store/workspace/format.ts')).refuseNewer(layoutOf(config.workspace));
    const run = await command.open();
    return await run(call);
  } catch (error) {
    return complain(error, config);
  }
};

// What the operator can do something about is a sentence; a stack is for what nobody foresaw.
const complain = async (error: unknown, config: Config | undefined): Promise<number> => {
  if (error instanceof UsageError) {
    process.stderr.write(
      `dossier: ${visible(error.message)}${error.message.endsWith('?') ? '' : '.'} dossier --help tells what there is.\n`,
    );
    return 2;
  }
  if (error instanceof NoDaemon) {
    process.stderr.write(`dossier: ${visible(error.message)}\n`);
    return 3;
  }
  const { sentenceOf } = await import('./cli/foreseen.ts');
  const text = sentenceOf(error, config) ?? (error instanceof Error ? error.stack : String(error));
  process.stderr.write(`dossier: ${visible(text ?? '')}\n`);
  return 1;
};

// Who listened has heard enough, as head has: what is being done is done all the same. What a full disk did not take is
// told at the end.
let unsaid: Error | undefined;
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error) => {
    if (!hasCode(error, 'EPIPE')) unsaid ??= error;
  });

const whole = async (code: number): Promise<number> => {
  await new Promise((resolve) => process.stdout.write('', resolve));
  if (unsaid === undefined) return code;
  process.stderr.write(
    `dossier: Not all that was to be said could be written: ${unsaid.message}\n`,
  );
  return code || 1;
};

// What is awaited may hold nothing open for a moment; Node would then end the process, and with 0.
setInterval(() => undefined, 2 ** 30);
void main().then(whole).then(process.exit);
