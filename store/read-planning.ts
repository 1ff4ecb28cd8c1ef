import { PlanningMatter } from './records/planning.ts';
import { parseFrontMatter } from './text/front-matter.ts';
import { checkerOf } from './text/parse.ts';

export const checkPlanning = checkerOf(PlanningMatter);

export const parsePlanning = (text: string): PlanningMatter => {
  const source = parseFrontMatter(text);
  return checkPlanning(source.data, source);
};
