import { timingSafeEqual } from 'node:crypto';
import { sha256 } from '../../store/base/sha256.ts';
import type { WithDoors } from '../sandbox/egress/doors.ts';
import { RELAY_PORT } from '../sandbox/egress/run-network.ts';
import type { Provider, RunSpec } from './provider.ts';

/** The address and token of the MCP server for one run. */
export interface McpAccess {
  mcp: NonNullable<RunSpec['mcp']>;
  close(): void;
}

/**
 * Gives one run access to the MCP server: through its own network, or with the host network by a loopback port that accepts
 * only its token until it is closed.
 */
export const openMcpAccess = async (
  { mcp, doors }: WithDoors,
  provider: Provider,
  token: string,
): Promise<McpAccess> => {
  if (provider.own_network)
    return { mcp: { url: urlAt(RELAY_PORT), token }, close: () => undefined };
  const { port, close } = await doors.openPort(token, mcp(token));
  return { mcp: { url: urlAt(port), token }, close };
};

const urlAt = (port: number): string => `http://127.0.0.1:${port}/mcp`;

/** Whether a token has this SHA-256; false without one. Takes the same time for any token. */
export const isTokenOf = (token_sha256: string | undefined, token: string): boolean => {
  const [known, given] = [Buffer.from(token_sha256 ?? ''), Buffer.from(sha256(token))];
  return known.length === given.length && timingSafeEqual(known, given);
};
