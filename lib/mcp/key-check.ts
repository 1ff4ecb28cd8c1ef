import { validKey } from '../api-keys/keys.ts';
import type { CheckKey } from '../http/local-only.ts';
import type { Service } from '../service.ts';
import { runOfToken } from '../sessions/engine.ts';

/** An API key opens what needs none. A session's token opens the MCP server and nothing else. */
export const keyCheck =
  (service: Service): CheckKey =>
  async (token, path) => {
    if (path === MCP_PATH && runOfToken(service.engine, token) !== undefined) return {};
    const key = await validKey(service, token);
    return key && { key: { id: key.id, name: key.name } };
  };

export const MCP_PATH = '/mcp';
