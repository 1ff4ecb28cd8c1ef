import { isKey } from '../api-keys/keys.ts';
import type { Service } from '../service.ts';
import { runOfToken } from '../sessions/engine.ts';

/** An API key opens what needs none. A session's token opens the MCP server and nothing else. */
export const keyCheck =
  (service: Service) =>
  async (token: string, path: string): Promise<boolean> =>
    (path === MCP_PATH && runOfToken(service.engine, token) !== undefined) || isKey(service, token);

export const MCP_PATH = '/mcp';
