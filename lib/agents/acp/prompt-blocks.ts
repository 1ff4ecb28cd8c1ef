import { pathToFileURL } from 'node:url';
import { renderPrompt } from '../prompt.ts';
import type { IssueImage, RunSpec } from '../provider.ts';

// In all, so that a prompt stays below what agents take for one message.
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * The prompt as the protocol has it: the words, and the issue's images, where the agent takes them; else, and where they are
 * too much for one message, links to their files. A conversation that goes on has had them.
 */
export const promptBlocks = (
  { phase, prompt }: Pick<RunSpec, 'phase' | 'prompt'>,
  { images: takes, anew }: { images: boolean; anew: boolean },
): object[] => {
  const images = anew ? (prompt.images ?? []).filter((image) => image.missing === undefined) : [];
  let left = takes ? MOST_BYTES : 0;
  const block = (image: IssueImage): object => {
    left -= image.bytes.length;
    return left < 0 ? linkTo(image) : inside(image);
  };
  const { messages_before: _heard, ...rest } = prompt;
  const text = renderPrompt(phase, anew ? prompt : rest);
  return [{ type: 'text', text }, ...images.map(block)];
};

const inside = ({ bytes, type, path }: IssueImage): object => ({
  ...{ type: 'image', data: bytes.toString('base64'), mimeType: type },
  uri: pathToFileURL(path).href,
});

const linkTo = ({ name, path, type }: IssueImage): object => ({
  ...{ type: 'resource_link', name, mimeType: type },
  uri: pathToFileURL(path).href,
});
