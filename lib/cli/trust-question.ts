import { trustCommandFor } from '../../store/settings/trust/waiting.ts';
import { waitingLines } from '../guard/trust/show.ts';
import { listWaiting, trust } from '../guard/trust/trust.ts';
import type { Service } from '../service.ts';
import { counted } from '../text/wording.ts';
import { askYesNo, isTerminal, toStandardOutput as say } from './output/terminal.ts';

/** Asks the operator, who started the daemon at a terminal, about what waits. The daemon serves meanwhile. */
export const askAboutTrust = async (service: Service, signal: AbortSignal): Promise<void> => {
  if (!isTerminal()) return;
  const waiting = await listWaiting(service);
  if (waiting.length === 0) return;
  say(`\n${waitingLines(waiting).join('\n')}`);
  const yes = await askYesNo(`Trust ${counted(waiting.length, 'value')} on this machine?`, signal);
  if (!yes) {
    if (!signal.aborted) say(`It waits: ${trustCommandFor(service.store.layout)} asks again.`);
    return;
  }
  await trust(service, { values: waiting.map(({ key, hash }) => ({ key, hash })) });
  say('Trusted.');
};
