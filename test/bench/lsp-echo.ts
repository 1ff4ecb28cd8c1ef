/** A language server that answers every request with 400 bytes, as cheaply as it can. */
import { createFrameReader, headerOf } from '../../lib/code/language-server/json-rpc.ts';

const read = createFrameReader((message) => {
  const id = /"id":(\d+)/.exec(message.toString('latin1', 0, 60))?.[1];
  if (id === undefined) return;
  const answer = Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":{"text":"${'x'.repeat(360)}"}}`);
  process.stdout.write(headerOf(answer) + answer.toString('latin1'));
});
process.stdin.on('data', read);
process.stdin.on('end', () => process.exit(0));
