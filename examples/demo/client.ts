// In a program of yours: from 'dossierd/client'.
import {
  connect,
  type Data,
  type Dossier,
  type InputOf,
  type Operation,
} from '../../lib/client/client.ts';
import { showAnswer, showRequest } from './screen.ts';

export interface Client extends Dossier {
  /** Makes a call, and shows it and its answer. */
  show<K extends Operation>(
    operation: K,
    input: InputOf<K>[0],
    facts?: (answer: Data<K>) => string,
  ): Promise<Data<K>>;
}

export const createClient = (url: string): Client => {
  const dossier = connect({ url });
  const show: Client['show'] = async (operation, input, facts) => {
    showRequest(operation, (input as { body?: unknown } | undefined)?.body);
    const answer = await dossier.request(operation, ...([input] as InputOf<typeof operation>));
    const data = answer.data as Data<typeof operation>;
    showAnswer(answer.status as number, facts?.(data));
    return data;
  };
  return { ...dossier, show };
};
