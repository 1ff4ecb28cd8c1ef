import { fenceOff } from '../../../store/base/text.ts';
import type { PromptParts } from '../provider.ts';
import { type ShellBlock, shellBlocks } from './shell-blocks.ts';

/** The plan that the runbook proposes: the shell blocks of tasks.md, or else of the description, each a numbered step. */
export const proposePlan = (parts: PromptParts): string =>
  parts.reviews === undefined ? ofTasks(parts) : ofReviews(parts, parts.reviews);

const ofTasks = (parts: PromptParts): string => {
  const tasks = parts.memory.find(({ filename }) => filename === 'tasks.md');
  const [source, text] = tasks
    ? ['tasks.md', tasks.content]
    : ['the description', parts.description];
  const blocks = shellBlocks(text);
  const warning = tasks === undefined && blocks.length > 0 ? strangers(parts.issue) : [];
  const body = blocks.length === 0 ? nothingToRun(source) : [...warning, ...steps(source, blocks)];
  return `${[`# Plan: ${parts.title}`, ...asked(parts.feedback), ...body].join('\n\n')}\n`;
};

const strangers = (issue: string | undefined): string[] =>
  issue === undefined
    ? []
    : [
        `**Others wrote these commands:** the description came with the issue ${issue}. Read each before you approve.`,
      ];

// What strangers wrote is shown, and never a step: not even where it looks like one.
const ofReviews = ({ title, feedback }: PromptParts, reviews: string): string =>
  `${[`# Plan: ${title}`, ...asked(feedback), ...REVIEWED, reviews].join('\n\n')}\n`;

const REVIEWED = [
  'Nothing would be run: the runbook cannot read reviews. They stand below, for you.',
  'Write what is to be run for them as fenced `sh` blocks into this plan before you approve it. They are run one by ' +
    'one, in the order in which they stand, in the worktree of this Work item. Approved as it is, this plan does nothing.',
];

const nothingToRun = (source: string): string[] => [
  `Nothing would be run: there is no fenced \`sh\` block in ${source}.`,
  'To have something run, add fenced `sh` blocks to this plan before you approve it. They are run one by one, in the ' +
    'order in which they stand, in the worktree of this Work item. Approved as it is, this plan does nothing.',
];

const steps = (source: string, blocks: ShellBlock[]): string[] => [
  `${count(blocks.length)} from ${source}.`,
  ...blocks.flatMap((block, at) => [heading(block, at + 1), fenceOff(block.script, block.shell)]),
  `Approving this plan runs the shell blocks that stand in it then, ${count(blocks.length)} as proposed here, one by ` +
    'one in the worktree of this Work item, each with `sh -eu` (blocks marked `bash` with `bash -eu`). The first that ' +
    'fails ends the session. Nothing else is run. A step that a kill cuts off is run again, or left, as you say when you resume; one that your pause cuts off is run again from its start, unless you say that it is left.',
];

const heading = ({ lead }: ShellBlock, number: number): string => {
  const text = lead.replace(/:$/, '');
  return text === '' ? `## Step ${number}` : `## Step ${number}: ${text}`;
};

const count = (blocks: number): string => (blocks === 1 ? '1 step' : `${blocks} steps`);

// The runbook cannot think about feedback: it shows it to the operator, who edits the plan.
const asked = (feedback: string | undefined): string[] =>
  feedback === undefined || feedback.trim() === ''
    ? []
    : [
        'This plan was sent back with the following comment. The runbook cannot act on it: edit the plan, or its source.',
        fenceOff(feedback, 'text'),
      ];
