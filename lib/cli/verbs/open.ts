import { browserOpener, openWith } from '../connection/browser.ts';
import { findItem } from '../connection/find.ts';
import { verb } from './verb.ts';

/** `dossier open [ITEM]`: opens its page in a browser if there is a display, and prints its address. */
export const open = verb(async (given) => {
  const {
    url,
    config,
    words: [word],
    values,
    out,
  } = given;
  const place = word === undefined ? '' : `/cases/${await findItem(given, word)}`;
  const address = `${url}/dashboard${place}`;
  if (values.json === true) return void out.json({ url: address });
  out.say(address);
  const opener = browserOpener(config.env, out.isTerminal);
  if (opener !== undefined) await openWith(opener, address);
});
