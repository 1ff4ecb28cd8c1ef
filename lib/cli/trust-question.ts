import { trustCommandFor } from '../../store/base/text.ts';
import { waitingLines } from '../guard/trust/show.ts';
import { listWaiting, trust } from '../guard/trust/trust.ts';
import type { Service } from '../service.ts';
import { counted } from '../text/wording.ts';
import { Interrupted } from './args/refusal.ts';
import { askYesNo, isTerminal, toStandardOutput as say } from './output/terminal.ts';

/** If the daemon was started at a terminal, asks about untrusted values, while the daemon serves requests. */
export const askAboutTrust = async (service: Service, signal: AbortSignal): Promise<void> => {
  if (!isTerminal()) return;
  const waiting = await listWaiting(service);
  if (waiting.length === 0) return;
  say(`\n${waitingLines(waiting).join('\n')}`);
  const question = `Trust ${counted(waiting.length, 'value')} on this machine?`;
  const yes = await askYesNo(question, signal).catch((error: unknown) => {
    if (!(error instanceof Interrupted)) throw error;
    // The question reads Ctrl-C as a key, so the daemon does not receive the signal.
    return !process.kill(process.pid, 'SIGINT');
  });
  if (!yes) {
    if (!signal.aborted)
      say(`Not trusted. To be asked again: ${trustCommandFor(service.store.layout)}`);
    return;
  }
  await trust(service, { values: waiting.map(({ key, hash }) => ({ key, hash })) });
  say('Trusted.');
};
