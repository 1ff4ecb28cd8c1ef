import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from 'pino';
import { visible } from '../store/base/visible.ts';
import { UsageError } from './config.ts';

/** The part of a pino logger that Dossier uses. */
export interface Log {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const STDERR = 2;

/**
 * Logs to standard error: readable lines on a terminal, JSON otherwise. Writes are synchronous, so that the lines before a
 * crash are not lost. Throws UsageError for an unknown level.
 */
export const createLog = async (level: string): Promise<Logger> => {
  if (!LEVELS.includes(level))
    throw new UsageError(`The log level must be one of ${LEVELS.join(', ')}, not ${level}`);
  const isTerminal = process.stderr.isTTY === true;
  return logTo(isTerminal ? await prettyStream() : plainStream(), level);
};

/** Logs to any stream. */
export const logTo = (stream: DestinationStream, level: string): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => described(error) },
      hooks: { streamWrite: (line) => visible(withoutControls(withoutSecrets(line))) },
    },
    stream,
  );

const KEPT_BYTES = 1 << 20;

// On a full disk the daemon goes on, and its lines are kept until the next one that can be written; with too many, the last
// are lost. Without a listener the error would end the process, and leave its runs behind.
const plainStream = (): DestinationStream =>
  destination({ fd: STDERR, sync: true, maxLength: KEPT_BYTES }).on('error', () => undefined);

// A stream in this process: pino's own transport starts a worker, whose file a bundle does not have.
const prettyStream = async (): Promise<DestinationStream> => {
  const { default: pretty } = await import('pino-pretty');
  return pretty({ destination: STDERR, sync: true, translateTime: 'SYS:HH:MM:ss' });
};

const DEEPEST_CAUSE = 5;

// Errors of libraries carry request headers and configurations, so only these members are logged.
const described = (error: unknown, depth = 0): unknown => {
  if (!(error instanceof Error)) return String(error);
  const { name, message, stack, cause } = error;
  const code = 'code' in error ? { code: error.code } : {};
  const because =
    cause === undefined || depth === DEEPEST_CAUSE ? {} : { cause: described(cause, depth + 1) };
  return { name, ...code, message, stack, ...because };
};

const REMOVED = '[removed]';

const SECRETS: readonly [RegExp, string][] = [
  [
    /("(?:[\w-]*(?:token|secret|password|api_?key)|authorization|cookie)":)"[^"]*"/gi,
    `$1"${REMOVED}"`,
  ],
  [/(authorization: *)[^"\\]+/gi, `$1${REMOVED}`],
  [/\b(Bearer +)[\w.~+/=-]+/gi, `$1${REMOVED}`],
  [/\b(gh[pousr]_|github_pat_|whsec_|sk-)[\w+/=-]{8,}/g, `$1${REMOVED}`],
  [/(:\/\/)[^/\s:@"\\]*:?[^/\s@"\\]+@/g, `$1${REMOVED}@`],
];

/** Removes secrets from a complete log line, wherever they are in it. */
const withoutSecrets = (line: string): string =>
  SECRETS.reduce((text, [secret, instead]) => text.replace(secret, instead), line);

// pino-pretty prints escaped characters unescaped. Only line ends and tabs may reach the terminal.
const withoutControls = (line: string): string =>
  line.includes('\\')
    ? line.replace(/\\(?:u(00[01][\da-f]|007f)|r\\n|.)/g, (sequence, code?: string) => {
        const char = code ?? CONTROLS[sequence];
        return char === undefined
          ? sequence
          : visible(String.fromCharCode(Number.parseInt(char, 16)));
      })
    : line;

const CONTROLS: Readonly<Record<string, string>> = { '\\b': '8', '\\f': 'c', '\\r': 'd' };

export interface WithLog {
  readonly log: Log;
}
