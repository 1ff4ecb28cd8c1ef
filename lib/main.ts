import { hasCode } from '../store/base/attempt.ts';
import { visible } from '../store/base/visible.ts';
import { layoutOf } from '../store/layout.ts';
import { helpFor, parseCommandLine } from './cli/args/read.ts';
import { Interrupted, NoDaemon } from './cli/args/refusal.ts';
import { COMMANDS } from './cli/commands.ts';
import { EXIT } from './cli/exit-codes.ts';
import { type Config, UsageError } from './config.ts';

const main = async (): Promise<number> => {
  let config: Config | undefined;
  try {
    const { env, argv } = process;
    const { command, call } = parseCommandLine(COMMANDS, argv.slice(2), env);
    config = call.config;
    // Loaded only when needed: the code that reads records takes longer to load than a call of the daemon.
    if (command.usesFiles === true)
      (await import('../store/workspace/format.ts')).refuseNewer(layoutOf(config.workspace));
    const run = await command.open();
    return await run(call);
  } catch (error) {
    return complain(error, config);
  }
};

// An expected error is printed as a sentence, any other with its stack.
const complain = async (error: unknown, config: Config | undefined): Promise<number> => {
  if (error instanceof UsageError) {
    process.stderr.write(
      `dossier: ${visible(error.message)}${/[?.]$/.test(error.message) ? '' : '.'} See ${helpFor(COMMANDS, process.argv.slice(2))}.\n`,
    );
    return EXIT.usage;
  }
  if (error instanceof Interrupted) return EXIT.left;
  if (error instanceof NoDaemon) {
    process.stderr.write(`dossier: ${visible(error.message)}\n`);
    return EXIT.noDaemon;
  }
  const { userMessage } = await import('./cli/user-errors.ts');
  const text = userMessage(error, config) ?? (error instanceof Error ? error.stack : String(error));
  process.stderr.write(`dossier: ${visible(text ?? '')}\n`);
  return EXIT.failed;
};

// EPIPE means that the reader of the output has exited, as `head` does: the command still completes. Any other failed
// write, as on a full disk, is reported at the end.
let outputError: Error | undefined;
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error) => {
    if (!hasCode(error, 'EPIPE')) outputError ??= error;
  });

const checkOutput = async (code: number): Promise<number> => {
  await new Promise((resolve) => process.stdout.write('', resolve));
  if (outputError === undefined) return code;
  process.stderr.write(`dossier: The output is incomplete: ${outputError.message}\n`);
  return code || EXIT.failed;
};

// Keeps Node from exiting with 0 while a promise is pending that holds no handle open.
setInterval(() => undefined, 2 ** 30);
void main().then(checkOutput).then(process.exit);
