import type { Config } from '../config.ts';
export const init = async (_config: Config): Promise<number> => 0;
