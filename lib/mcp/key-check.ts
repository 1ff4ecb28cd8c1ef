import type { Service } from '../service.ts';
import { runOfToken } from '../sessions/engine.ts';

/** A session's token opens the MCP server and nothing else. */
export const keyCheck =
  ({ engine }: Service) =>
  async (token: string, path: string): Promise<boolean> =>
    path === MCP_PATH && runOfToken(engine, token) !== undefined;

export const MCP_PATH = '/mcp';
