import type { Doors } from './doors.ts';
import { openMcpPort } from './mcp-port.ts';
import { onceEach } from './once-each.ts';
import { openRunDoors } from './run-doors.ts';
import type { World } from './world.ts';

/** Doors that this very thread serves. */
export const createDoorsHere = (world: World): Doors => ({
  open: (task, { tell, mcp, lost }) => {
    try {
      return openRunDoors(task, { tell: onceEach(tell), mcp }, world);
    } catch (error) {
      lost(String(error));
      return () => undefined;
    }
  },
  openPort: openMcpPort,
});
