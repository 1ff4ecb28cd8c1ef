import type { Section } from '../lib/http/route.ts';
import { systemRoutes } from './system.ts';

/** The whole API, in the order of the interface document. */
export const sections: readonly Section[] = [{ title: 'System', routes: systemRoutes }];
