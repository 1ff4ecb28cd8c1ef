import { readdirSync, readFileSync } from 'node:fs';
import { processesOf, type Traces } from '../../lib/tools/process/process-tree.ts';

/** The processes that have a text in their command line. Linux only. */
export const processesNaming = (text: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && commandLine(name).includes(text))
    .map(Number);

const commandLine = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
};

/** Whether any process of the run is alive. */
export const alive = async (marker: string, traces: Traces = {}): Promise<boolean> =>
  (await processesOf(marker, traces)).length > 0;
