import { RequestError } from '@agentclientprotocol/sdk';
import { settlesWithin } from '../../../store/base/async.ts';
import { record, text } from '../../text/unknown-json.ts';
import type { Program } from '../../tools/process/spawn.ts';
import { describeExit } from '../run-end.ts';
import { type AgentConnection, MAX_MESSAGE_BYTES } from './connection.ts';
import { AgentError } from './session.ts';

const EXIT_MS = 2000;
const DETAIL_CHARACTERS = 1000;
const AUTH_REQUIRED = -32_000;

/** Why a turn broke off, as a sentence for the operator. Waits for the exit of an agent whose connection closed. */
export const describeFailure = async (
  error: unknown,
  agent: AgentConnection,
  program: Program,
  login?: string,
): Promise<string> => {
  if (agent.tooLarge() !== undefined) {
    return `The agent exceeded the output limit: it sent a message of more than ${MAX_MESSAGE_BYTES >> 20} MiB.`;
  }
  if (error instanceof AgentError) return error.message;
  if (error instanceof RequestError) return describeAnswer(error, login);
  // The output closes just before the exit code is known.
  if (!(await settlesWithin(program.exited, EXIT_MS)))
    return 'The agent closed its output but did not exit.';
  const exit = await program.exited;
  const last = exit.ended_by === 'not_started' ? '' : exit.stderr_tail.trim();
  return `The agent ${describeExit(exit)}.${last === '' ? '' : ` Its last output:\n${last}`}`;
};

/** The advice for an agent without a valid login. */
export const LOG_IN =
  'Log in with the agent itself, or start the daemon with its API key in the environment.';

/** Whether the agent requires a login. */
export const isLoggedOut = (error: unknown): boolean =>
  error instanceof RequestError && error.code === AUTH_REQUIRED;

const describeAnswer = ({ code, message, data }: RequestError, login = LOG_IN): string => {
  const detail = text(record(data).details) ?? text(record(data).message) ?? text(data) ?? '';
  const hint = code === AUTH_REQUIRED ? ` ${login}` : '';
  const because =
    detail === '' || detail === message ? '' : ` (${detail.slice(0, DETAIL_CHARACTERS)})`;
  return `The agent returned an error: ${message}${because}.${hint}`;
};
