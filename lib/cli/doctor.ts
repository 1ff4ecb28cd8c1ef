import type { Config } from '../config.ts';
export const doctor = async (_config: Config): Promise<number> => 0;
