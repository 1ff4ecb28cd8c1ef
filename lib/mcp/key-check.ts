import { validKey } from '../guard/api-keys/keys.ts';
import type { CheckKey } from '../http/local-only.ts';
import type { Service } from '../service.ts';

/** An API key opens what needs none. The token of a session opens nothing here: its MCP server is elsewhere. */
export const keyCheck =
  (service: Service): CheckKey =>
  async (token) => {
    const key = await validKey(service, token);
    return key && { key: { id: key.id, name: key.name } };
  };
