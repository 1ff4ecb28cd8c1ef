import type { Doors } from './doors.ts';
import { openMcpPort } from './mcp-port.ts';
import { onceEach } from './once-each.ts';
import { openRunDoors } from './run-doors.ts';
import type { World } from './world.ts';

/** Doors that this process serves itself. */
export const createDoorsHere = (world: World): Doors => ({
  open: (task, { tell, mcp, lost }) => {
    try {
      const close = openRunDoors(task, { tell: onceEach(tell), mcp }, world);
      return async () => close();
    } catch (error) {
      lost(String(error));
      return async () => undefined;
    }
  },
  openPort: openMcpPort,
});
